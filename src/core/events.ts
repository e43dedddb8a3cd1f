// What long work reports while it goes on. Layers below the command line emit these and print nothing;
// names are <noun>-<action>.

export type ProgressEvent =
  | {
      readonly kind: 'stage-start';
      readonly stage: string;
      readonly title: string;
      readonly total: number;
      readonly unit: 'episodes' | 'steps' | 'tokens';
    }
  | {
      readonly kind: 'episode-end';
      readonly stage: string;
      readonly done: number;
      readonly total: number;
      readonly successes: number;
      readonly invalid: number;
    }
  | {
      readonly kind: 'step-end';
      readonly stage: string;
      readonly done: number;
      readonly total: number;
      /** Flat metrics of the step, as written to `metrics.jsonl`. */
      readonly metrics: Readonly<Record<string, number>>;
      readonly tokensPerSecond: number;
    }
  | { readonly kind: 'stage-end'; readonly stage: string; readonly seconds: number; readonly summary: string }
  | { readonly kind: 'note'; readonly level: 'info' | 'warning'; readonly message: string };

/** Receives progress; must not throw. */
export type ProgressListener = (event: ProgressEvent) => void;
