// The whole recipe for one model on click-checkboxes: measure it, collect what it solves exactly, fine-tune on that, train
// online with GRPO, measure again. Wherever the model is: --model hf:..., gguf:..., tinker:... or nano. --dry-run says what
// would be done, with how many tokens, and asks nobody.
// A model that solves nothing is shown how by --teacher oracle: its demonstrations take the place of what it solved.
// Usage: node --import tsx examples/click-checkboxes.ts --model <name> [--base-url <url>] [--out <folder>] [--dry-run]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { playedFormat, thinksFirst } from '../src/cli/chat-policy.ts';
import { TabwrightError } from '../src/core/index.ts';
import { KNOWN_MODELS, modelFamily } from '../src/tokens/index.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const { values } = parseArgs({
  options: {
    model: { type: 'string', default: 'hf:HuggingFaceTB/SmolLM2-135M-Instruct' },
    'base-url': { type: 'string' },
    tokenizer: { type: 'string' },
    'chat-format': { type: 'string' },
    out: { type: 'string', default: 'runs/recipe' },
    seed: { type: 'string', default: '1' },
    pages: { type: 'string', default: '8' },
    'eval-episodes': { type: 'string', default: '200' },
    'collect-episodes': { type: 'string', default: '800' },
    /** A policy of the environment that shows how, for models that solve nothing by themselves: oracle. */
    teacher: { type: 'string' },
    filter: { type: 'string', default: 'exact' },
    epochs: { type: 'string', default: '3' },
    'lora-rank': { type: 'string', default: '16' },
    steps: { type: 'string', default: '40' },
    groups: { type: 'string', default: '8' },
    'group-size': { type: 'string', default: '8' },
    beta: { type: 'string', default: '0.02' },
    'max-action-tokens': { type: 'string' },
    /** Dollars a million tokens that are read, sampled and trained on, e.g. 0.5,1.5,2. */
    prices: { type: 'string' },
    resume: { type: 'boolean', default: false },
    'dry-run': { type: 'boolean', default: false },
  },
});

/** Averages of a chat model on these puzzles, for planning: two to six boxes, a click each, then Submit. */
const ASSUMED = {
  turns: 5,
  firstPromptTokens: 900,
  laterTurnTokens: 150,
  replyTokens: 60,
  thinkingTokens: 400,
} as const;

const count = (name: keyof typeof values): number => {
  const number = Number(values[name]);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new TabwrightError('config', `--${name} is a positive whole number, not ${String(values[name])}.`, {
    code: 'bad-option',
  });
};

type Stage = {
  readonly title: string;
  readonly args: readonly string[];
  readonly episodes: number;
  readonly trained: number;
};

function plan(): readonly Stage[] {
  const { model, out, seed, pages } = values;
  const given = (...names: readonly (keyof typeof values)[]): string[] =>
    names.flatMap((name) => (values[name] === undefined ? [] : [`--${name}`, String(values[name])]));
  const words = given('base-url', 'tokenizer', 'chat-format', 'max-action-tokens');
  const playing = ['--pages', pages, '--seed', seed];
  const folder = (name: string): string => join(out, name);
  const [evaluation, collection] = [count('eval-episodes'), count('collect-episodes')];
  const batch = count('groups') * count('group-size');
  const measure = (title: string, of: string, name: string): Stage => ({
    title,
    args: ['eval', '--model', of, ...words, ...playing, '--episodes', String(evaluation), '--out', folder(name)],
    episodes: evaluation,
    trained: 0,
  });
  return [
    measure('Measure the base', model, 'base'),
    {
      title:
        values.teacher === undefined ? 'Collect what it solves' : `Collect what ${values.teacher} does, in its words`,
      args: [
        ...['collect', '--model', model, ...words, ...playing, '--episodes', String(collection)],
        ...given('filter', 'teacher'),
        ...['--out', folder('collect')],
      ],
      episodes: collection,
      trained: 0,
    },
    {
      title: 'Fine-tune on that',
      args: [
        ...['sft', '--model', model, ...words, '--seed', seed, '--data', folder('collect')],
        ...given('filter', 'epochs', 'lora-rank'),
        ...['--out', folder('sft')],
      ],
      episodes: 0,
      // At most: as if every episode were worth imitating.
      trained: collection * count('epochs'),
    },
    measure('Measure it fine-tuned', folder('sft'), 'sft-eval'),
    {
      title: 'Train online with GRPO',
      args: [
        ...['train', '--model', folder('sft'), ...words, ...playing],
        ...given('steps', 'groups', 'group-size', 'beta'),
        ...['--out', folder('grpo')],
      ],
      episodes: count('steps') * batch,
      trained: count('steps') * batch,
    },
    measure('Measure it trained', folder('grpo'), 'grpo-eval'),
  ];
}

/** The model's name among the known ones; a folder's or file's by its last part. */
function knownName(model: string): string {
  const plain = model.replace(/^(hf|gguf|tinker):/, '');
  const file = basename(plain).replace(/(?:[.-](?:[A-Z]*F\d+|I?Q\d\w*))?\.gguf$/i, '');
  return KNOWN_MODELS.find((name) => name === plain || name.endsWith(`/${file}`)) ?? plain;
}

function describe(stages: readonly Stage[]): string {
  const { model, 'chat-format': asked } = values;
  const lines = ['model      ' + model];
  let thinks = false;
  if (/^(tinker:)?nano$/.test(model)) lines.push('renderer   nano/1');
  else {
    const name = knownName(model);
    const format = asked ?? playedFormat(name);
    if (asked === undefined || KNOWN_MODELS.includes(name)) {
      const { family, contextTokens, parameters, activeParameters = parameters, licence } = modelFamily(name);
      lines.push(
        `family     ${family}, ${(parameters / 1e9).toFixed(2)} B parameters, ${(activeParameters / 1e9).toFixed(2)} B active, context ${contextTokens}, ${licence}`,
      );
    }
    thinks = thinksFirst(format);
    lines.push(`renderer   ${format}, safe`);
  }
  const where = model.startsWith('tinker:') ? (values['base-url'] ?? 'Tinker (TINKER_BASE_URL)') : 'this machine';
  lines.push(`trained    adapters of rank ${values['lora-rank']} on ${where}`, '');
  const { turns, firstPromptTokens, laterTurnTokens, thinkingTokens } = ASSUMED;
  const reply = ASSUMED.replyTokens + (thinks ? thinkingTokens : 0);
  const row = firstPromptTokens + (turns - 1) * laterTurnTokens + turns * reply;
  // Every turn reads its whole prompt; servers that keep prefixes read less.
  const read = turns * firstPromptTokens + ((turns * (turns - 1)) / 2) * (laterTurnTokens + reply);
  const totals = [0, 0, 0];
  for (const { title, args, episodes, trained } of stages) {
    const tokens = [episodes * read, episodes * turns * reply, trained * row];
    tokens.forEach((value, i) => (totals[i] += value));
    lines.push(
      `${title}: ${episodes} episodes, ${tokens.map(millions).join(' / ')} tokens`,
      `  tabwright ${args.join(' ')}`,
    );
  }
  lines.push('', `In all ${totals.map(millions).join(' / ')} tokens read / sampled / trained on, at most.`);
  lines.push(
    `Assumed: ${turns} turns an episode, ${firstPromptTokens} tokens to begin with, ${laterTurnTokens} a later page, ${reply} a reply.`,
  );
  lines.push(cost(totals));
  return lines.join('\n');
}

const millions = (value: number): string => `${(value / 1e6).toFixed(2)} M`;

function cost(totals: readonly number[]): string {
  if (!values.model.startsWith('tinker:')) return 'Cost: none but time, it runs on this machine.';
  if (values.prices === undefined)
    return 'Cost: give --prices <read>,<sampled>,<trained>, dollars a million tokens of this model.';
  const prices = values.prices.split(',').map(Number);
  if (prices.length !== 3 || prices.some((price) => !(price >= 0))) {
    throw new TabwrightError('config', `--prices is three numbers like 0.5,1.5,2, not ${values.prices}.`, {
      code: 'bad-option',
    });
  }
  const dollars = totals.reduce((sum, tokens, i) => sum + (tokens / 1e6) * prices[i], 0);
  return `Cost: about $${dollars.toFixed(2)} at these prices.`;
}

async function carryOut(stages: readonly Stage[]): Promise<void> {
  for (const { title, args } of stages) {
    console.error(`\n${title}`);
    const more = values.resume ? ['--resume'] : [];
    const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', ...args, ...more], {
      cwd: ROOT,
      stdio: 'inherit',
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code === 0) continue;
    process.exitCode = code ?? 1;
    console.error(`${title} ended with ${code}; what is complete is kept.`);
    return;
  }
}

try {
  const stages = plan();
  if (values['dry-run']) console.log(describe(stages));
  else await carryOut(stages);
} catch (error) {
  if (!(error instanceof TabwrightError)) throw error;
  console.error(`error: ${error.message}`);
  process.exitCode = 2;
}
