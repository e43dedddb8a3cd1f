// Every wait of the client and every limit on what is under way, with Tinker's own figures as defaults. Data only.
// Source: the SDK's retry layers and client config defaults.

export type Pacing = {
  /** One request, milliseconds. */
  readonly requestMs: number;
  /** One long poll, milliseconds; servers answer sooner. */
  readonly pollMs: number;
  /** First wait before a request is sent again; doubles. */
  readonly firstRetryMs: number;
  /** Longest such wait. */
  readonly longestRetryMs: number;
  /** How long requests are sent again before the failure is the caller's. */
  readonly retryBudgetMs: number;
  /** Least pause before a poll is repeated after 408, 5xx or an answer that came at once. */
  readonly repollMs: number;
  /** The result of one piece of work, from its acceptance on. */
  readonly resultMs: number;
  /** Between two signs of life. */
  readonly heartbeatMs: number;
  /** After which silence of the server is reported. */
  readonly silenceMs: number;
  /** Pause of all sampling after 429, for prompts of up to 128 KiB and for longer ones. */
  readonly backPressureMs: readonly [short: number, long: number];
  /** After 402, between tries, and how long in all. */
  readonly billingPauseMs: number;
  readonly billingBudgetMs: number;
  /** How often a sample whose promise was lost is asked for anew. */
  readonly sampleRetries: number;
};

export const DEFAULT_PACING: Pacing = {
  requestMs: 60_000,
  pollMs: 45_000,
  firstRetryMs: 1000,
  longestRetryMs: 30_000,
  retryBudgetMs: 300_000,
  repollMs: 50,
  resultMs: 7_200_000,
  heartbeatMs: 10_000,
  silenceMs: 120_000,
  backPressureMs: [1000, 5000],
  billingPauseMs: 5000,
  billingBudgetMs: 3_600_000,
  sampleRetries: 5,
};
