// The environment click-checkboxes and what is known about its puzzles.

export { CLICK_TOOL } from './click-tool.ts';
export {
  CLICK_CHECKBOXES,
  createClickCheckboxesEnv,
  type ClickCheckboxesEnv,
  type ClickCheckboxesOptions,
} from './env.ts';
export type { ClickEffect } from './episode.ts';
export { CLICK_CHECKBOXES_POLICIES } from './policies.ts';
export { createPuzzle, instructionFor, type Puzzle } from './puzzle.ts';
export { oracleTarget, randomTarget, submitTarget } from './scripted-policies.ts';
export { scoreBoxes, type Score } from './score.ts';
