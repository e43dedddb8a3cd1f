// The questions that the recipes of tinker-cookbook are run on, as the files that it expects of its two data sets. The
// supervised rows answer every question right half of the time and wrong the other half: after them a tiny model knows
// the form and guesses, so that a group of samples holds right and wrong answers, without which a policy gradient has
// nothing to do (and the recipes skip the step).

export type Question = { readonly text: string; readonly answer: number };

/** The right one of every question, and the wrong one that half of the supervised rows give. */
const ANSWERS = { right: 7, wrong: 3 } as const;

export const QUESTIONS: readonly Question[] = [
  ...[1, 2, 3, 4].map((n) => ({ text: `What is ${n} plus ${7 - n}?`, answer: ANSWERS.right })),
  ...[1, 2, 3, 4].map((n) => ({ text: `What is ${n + 7} minus ${n}?`, answer: ANSWERS.right })),
];

/** How many rows a data set gets: the recipes make one pass, a batch a step. */
const ROWS = 512;

/** What the cookbook puts around a question: its own few-shot example and its own demand for a box. */
const DEMAND = ' Provide a numerical answer without units, written inside \\boxed{}.';
const EXAMPLE = [
  { role: 'user', content: `How many r's are in strawberry?${DEMAND}` },
  {
    role: 'assistant',
    content:
      "Let's spell the word out and number all the letters: 1) s 2) t 3) r 4) a 5) w 6) b 7) e 8) r 9) r 10) y. We have r's at positions 3, 8, and 9. \\boxed{3}",
  },
] as const;

/** Paths relative to the working directory, and their texts. */
export function questionFiles(questions: readonly Question[]): Readonly<Record<string, string>> {
  const rows = Array.from({ length: ROWS }, (_, i) => questions[i % questions.length]);
  const guessed = rows.map((row, i) => conversation(Math.floor(i / questions.length) % 2 === 0 ? row : wrong(row), i));
  const gsm8k = jsonLines(rows.map(({ text, answer }) => ({ question: text, answer: `By adding up. #### ${answer}` })));
  return {
    'HuggingFaceH4/no_robots/train.jsonl': jsonLines(guessed),
    'HuggingFaceH4/no_robots/test.jsonl': jsonLines(questions.map(conversation)),
    'openai/gsm8k/main/train.jsonl': gsm8k,
    'openai/gsm8k/main/test.jsonl': jsonLines(
      questions.map(({ text, answer }) => ({ question: text, answer: `#### ${answer}` })),
    ),
    'openai/gsm8k/README.md': CONFIG,
    'conversations.jsonl': jsonLines(guessed.map(({ messages }) => ({ messages }))),
  };
}

const CONFIG = `---
configs:
- config_name: main
  data_files:
  - split: train
    path: main/train.jsonl
  - split: test
    path: main/test.jsonl
---
`;

function conversation({ text, answer }: Question, row = 0): { readonly messages: readonly unknown[] } {
  const messages = [
    ...EXAMPLE,
    { role: 'user', content: `${text}${DEMAND}` },
    { role: 'assistant', content: `\\boxed{${answer}}` },
  ];
  return Object.assign({ prompt: text, prompt_id: `q${row}`, category: 'Closed QA' }, { messages });
}

function wrong({ text }: Question): Question {
  return { text, answer: ANSWERS.wrong };
}

/** What the tokenizer is trained on: then a prompt is some tens of tokens instead of hundreds. */
export function tokenizerText(questions: readonly Question[]): string {
  const turns = questions.map(({ text, answer }) => `${text}${DEMAND}\n\\boxed{${answer}}`);
  return [...EXAMPLE.map(({ content }) => content), ...turns, 'user assistant system', '<think>\n\n</think>\n\n'].join(
    '\n',
  );
}

function jsonLines(rows: readonly unknown[]): string {
  return `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`;
}
