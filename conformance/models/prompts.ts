// Prompts for comparisons of greedy continuations: questions in the model's chat format and beginnings of texts, code and
// tables, which reach other tokens than answers do.

import type { Tokenizer } from '../../src/core/index.ts';

const SYSTEM = 'You are a helpful AI assistant named SmolLM, trained by Hugging Face';

const QUESTIONS = [
  'What is the capital of France? Answer in one sentence.',
  'Write a haiku about the sea.',
  'List three fruits and their colours.',
  'Explain why the sky is blue to a child.',
  "Translate 'good morning' into Spanish, Italian and German.",
  'What is 17 times 23? Show your steps.',
  'Write a Python function that reverses a string.',
  'Give me a recipe for pancakes.',
  'Who wrote Romeo and Juliet, and when?',
  'Summarise the water cycle in four steps.',
  'Name the planets of the solar system in order.',
  'Write an email that declines a meeting politely.',
  'What is the difference between a list and a tuple in Python?',
  'Tell me a short story about a robot and a cat.',
];
const BEGINNINGS = [
  'The history of the bicycle begins in',
  'def fibonacci(n):\n    ',
  'Once upon a time, in a village by the river,',
  'The three laws of thermodynamics state that',
  '<html>\n<body>\n  <h1>Welcome</h1>\n',
  'In 1969, astronauts',
  'SELECT name, age FROM users WHERE',
  'The best way to learn a language is',
  '1, 1, 2, 3, 5, 8,',
  'Photosynthesis is the process by which',
];

/** The token that ends an answer. */
export const STOP = '<|im_end|>';

export function smolLm2Prompts(tokenizer: Tokenizer): number[][] {
  const chat = QUESTIONS.map(
    (question) =>
      `<|im_start|>system\n${SYSTEM}<|im_end|>\n<|im_start|>user\n${question}<|im_end|>\n<|im_start|>assistant\n`,
  );
  return [...chat, ...BEGINNINGS].map((text) => tokenizer.encode(text, { control: true }));
}
