// What there is to say about a suite without opening it: how many tasks, how they are divided, and what is known to be
// reached without a model.

/** Share of episodes with exact success, 0 to 1; null where it has not been measured. */
export type SuiteFigure = number | null;

export type SuiteDescription = {
  readonly name: string;
  readonly version: string;
  readonly tasks: number;
  readonly train: number;
  readonly test: number;
  /** Mean over the tasks. */
  readonly oracle: SuiteFigure;
  readonly noop: SuiteFigure;
  /** The best of the blind policies, task by task. */
  readonly blind: SuiteFigure;
};
