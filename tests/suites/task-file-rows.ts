// A right row of each format of task files, written for the tests; sites and names are made up.

export const WEBARENA = {
  sites: ['shopping'],
  task_id: 1001,
  require_login: true,
  storage_state: './.auth/shopping_state.json',
  start_url: '__SHOPPING__/lamps |AND| __SHOPPING__/cart',
  geolocation: null,
  intent_template: 'Find the price of {{thing}}',
  instantiation_dict: { thing: 'the green lamp' },
  intent: 'Find the price of the green lamp',
  intent_template_id: 77,
  require_reset: false,
  eval: {
    eval_types: ['string_match', 'url_match', 'program_html'],
    reference_answers: { must_include: ['24.50 |OR| twenty-four', 'green'] },
    reference_url: '__SHOPPING__/lamps/green |OR| __SHOPPING__/lamp?id=7',
    url_note: 'GOLD in PRED',
    program_html: [
      { url: 'last', locator: "document.querySelector('h1').outerText", required_contents: { must_include: ['Lamp'] } },
      {
        url: "func:reddit_get_post_url('__last_url__')",
        locator: '',
        prep_actions: ['window.scrollTo(0, 0)'],
        required_contents: { exact_match: 'x' },
      },
      {
        url: '__SHOPPING__/cart',
        locator: '[...document.querySelectorAll("li")].map(a => a.innerText).join()',
        required_contents: { must_include: ['lamp'] },
      },
    ],
  },
};

export const VERIFIED = {
  sites: ['gitlab'],
  task_id: 2001,
  intent_template_id: 8,
  start_urls: ['__GITLAB__'],
  intent: 'Get the names of the two newest groups',
  revision: 2,
  eval: [
    {
      evaluator: 'AgentResponseEvaluator',
      ordered: false,
      results_schema: { type: 'array', items: { type: 'string' } },
      expected: { task_type: 'retrieve', status: 'SUCCESS', retrieved_data: ['alpha', ['beta', 'beta group']] },
    },
    {
      evaluator: 'NetworkEventEvaluator',
      ignored_query_params: null,
      expected: {
        url: '^__GITLAB__/groups/\\d+$',
        http_method: 'GET',
        headers: null,
        post_data: null,
        response_status: 200,
      },
    },
  ],
};

export const WEBVOYAGER = {
  web_name: 'Recipes',
  id: 'Recipes--3',
  ques: 'Find a soup with four stars.',
  web: 'https://www.recipes.test/',
};
export const WEBVOYAGER_REFERENCES = {
  Recipes: {
    notice: 'ratings change',
    answers: [
      { id: 3, type: 'possible', ans: 'Pea soup' },
      { id: 4, type: 'golden', ans: 'Cake' },
    ],
  },
};
export const MIND2WEB = {
  task_id: 'a1',
  website: 'https://www.trains.test/',
  task_description: 'Find a train to Ulm.',
  reference_length: 6,
  level: 'easy',
};
export const REAL = {
  id: 'dish-1',
  goal: 'Order one bowl of ramen.',
  website: { id: 'dish', name: 'Dish', similarTo: 'none', previewImage: '/x.jpg', url: 'https://dish.test/' },
  difficulty: 'easy',
  challengeType: 'action',
  possible: true,
  points: 1,
  config: {},
  evals: [
    { type: 'jmespath', query: 'cart.items[0].name', expected_value: 'Ramen', description: 'the dish' },
    { type: 'llm_boolean', rubric: 'says that it was ordered', expected_value: true },
  ],
};
export const WEBGYM = {
  benchmark_name: 'made-up',
  task_name: 'Which museum is free on Monday?',
  domain: 'travel',
  subdomain: 'museums',
  website: 'https://museums.test/',
  definite_answer: 'The clock museum',
  task_id: 'w-1',
  difficulty: 2,
  evaluator_reference: [{ id: 'f1', description: 'the museum', facts: ['it is named', 'it is free on Monday'] }],
};
export const AGENT_AUTH = {
  id: 'maps-test-login',
  initial_url: 'https://maps.test/',
  task: 'Go to maps.test and find the log-in page.',
};
export const TABWRIGHT = {
  id: 'one',
  url: 'https://www.news.test/',
  instruction: 'Read the headline.',
  group: 'news',
  answer: 'Rain',
};
