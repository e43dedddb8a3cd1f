// One attempt at one task on a website, in a session of the Browser REPL that is this episode's own. Cells are the only
// way to act; a reply without a call is the answer and ends it. What judges get (log, pictures) is made by the host on
// its own connection: nothing that a model or a page writes gets into it but as quoted text.

import {
  asJson,
  TabwrightError,
  type Action,
  type Episode,
  type FinishedOutcome,
  type InvalidOutcome,
  type JsonObject,
  type Observation,
  type Outcome,
  type StepOptions,
  type StepResult,
  type StopReason,
  type Task,
} from '../../core/index.ts';
import type { ActionEntry, BrowserReplResult, SessionLease } from '../../repl/index.ts';
import { browserReplTool, readCellCall, type CellCall } from './browser-repl-tool.ts';
import { showResult } from './cell-output.ts';
import type { WebTaskConfig } from './config.ts';
import { openStartPage } from './start-page.ts';
import { notJudged, type Verdict, type Verifier } from './verifier.ts';

export type OpenWebEpisodeOptions = {
  readonly task: Task & { readonly startUrl: string };
  readonly lease: SessionLease;
  readonly config: WebTaskConfig;
  readonly verify?: Verifier;
  /** Ends with the episode. */
  readonly instance?: AsyncDisposable;
  readonly signal: AbortSignal;
};

type Picture = { readonly evidence?: Uint8Array; readonly info?: JsonObject };

const PICTURE_MS = 5_000;
/** A verifier sees so many pictures at most: the oldest and the newest ones. */
const MAX_PICTURES = 100;

export async function openWebEpisode(options: OpenWebEpisodeOptions): Promise<Episode> {
  const { task, lease, config, verify } = options;
  const first = await openStartPage(lease, task.startUrl, options.signal);
  const cells = { before: lease.log?.entries.length ?? 0 };
  const pictures: Uint8Array[] = [];
  let turns = 0;
  let unreadable = 0;
  let over = false;

  /** By the host's log: its own opening of the start page is no action of the model's. */
  const actions = (): readonly ActionEntry[] | undefined => lease.log?.entries.slice(cells.before);
  /** None where the page or its browser does not give one: a model must not be able to end an episode that way. */
  const takePicture = async ({ signal }: StepOptions): Promise<Picture> => {
    if (lease.closed) return { info: { picture: 'the browser was gone' } };
    let png: Uint8Array | undefined;
    try {
      png = await lease.screenshot({ signal, deadlineMs: PICTURE_MS });
    } catch (error) {
      if (!(error instanceof TabwrightError && error.boundary === 'browser')) throw error;
      return { info: { picture: error.message } };
    }
    if (png === undefined) return { info: { picture: 'the page gave none' } };
    pictures.push(png);
    if (pictures.length > MAX_PICTURES) pictures.splice(MAX_PICTURES / 2, 1);
    return { evidence: png };
  };
  const end = async (stop: StopReason, answer: string | undefined, { signal }: StepOptions): Promise<Outcome> => {
    over = true;
    if (verify === undefined) return notJudged(stop);
    try {
      const verdict = await verify({ task, stop, answer, actions: actions(), pictures, session: lease }, { signal });
      return finished(verdict, stop, config);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof TabwrightError) || error.boundary === 'config' || error.boundary === 'store') throw error;
      const { boundary, code, message } = error;
      return { kind: 'invalid', boundary, code, message };
    }
  };
  const ended = async (
    stop: StopReason,
    answer: string | undefined,
    call: StepOptions,
  ): Promise<{ outcome: FinishedOutcome } | { invalid: InvalidOutcome }> => {
    const outcome = await end(stop, answer, call);
    return outcome.kind === 'finished' ? { outcome } : { invalid: outcome };
  };
  /** The whole log is in the last turn: what a late navigation added to earlier entries is there too. */
  const wholeLog = (): JsonObject => ({
    log: asEntries(actions()),
    ...(lease.log === undefined ? {} : { omitted: { ...lease.log.omitted } }),
  });

  const answered = async (text: string, call: StepOptions): Promise<StepResult> => {
    const { info, ...picture } = await takePicture(call);
    return {
      observation: { page: '' },
      changed: false,
      info: { kind: 'answer', ...info, ...wholeLog() },
      ...picture,
      ...(await ended('answered', text, call)),
    };
  };
  const refused = async (problem: string, call: StepOptions): Promise<StepResult> => {
    unreadable++;
    const stop: StopReason | undefined =
      unreadable > config.maxCorrections ? 'malformed' : turns >= config.maxTurns ? 'max_actions' : undefined;
    return {
      observation: {
        page: '',
        notice: `Nothing was run: ${problem}. Call browser_repl with {"code": "..."}, or reply without a call to give your final answer.`,
      },
      changed: false,
      info: { kind: 'refused', problem, ...(stop === undefined ? {} : wholeLog()) },
      ...(stop === undefined ? {} : await ended(stop, undefined, call)),
    };
  };
  const run = async (cell: CellCall, call: StepOptions): Promise<StepResult> => {
    unreadable = 0;
    const seen = lease.log?.entries.length ?? 0;
    const result = await lease.execute({ ...cell, signal: call.signal });
    const done = lease.log?.entries.slice(seen);
    // Where the host is somebody else's there is no log to tell, so every cell counts as one that acted.
    const acted = done?.some(({ effect }) => effect === 'acts') ?? true;
    const last = turns >= config.maxTurns;
    const { info, ...picture } = acted || last ? await takePicture(call) : {};
    const observation: Observation = showResult(result, config.outputCharacters);
    return {
      observation,
      // A cell that only looked did something too, where it shows what it found.
      changed: acted || (result.success && observation.page !== ''),
      info: {
        kind: 'cell',
        acted,
        actions: asEntries(done),
        ...cellFacts(result),
        ...info,
        ...(last ? wholeLog() : {}),
      },
      ...picture,
      ...(last ? await ended('max_actions', undefined, call) : {}),
    };
  };

  return {
    tools: [browserReplTool(config)],
    first,
    async step(action: Action, call: StepOptions) {
      if (over) throw new TabwrightError('env', 'the episode is over; open another one', { code: 'episode-over' });
      turns++;
      if (action.kind === 'answer') return answered(action.text, call);
      const read = readCellCall(action, config);
      return read.kind === 'cell' ? run(read.call, call) : refused(read.problem, call);
    },
    async screenshot(call) {
      const png = await lease.screenshot({ signal: call.signal, deadlineMs: PICTURE_MS });
      if (png !== undefined) return png;
      throw new TabwrightError('browser', 'the page gives no picture', { code: 'no-picture', retryable: true });
    },
    giveUp: async (stop, call) => ({ outcome: await end(stop, undefined, call), info: wholeLog() }),
    async [Symbol.asyncDispose]() {
      try {
        await options.instance?.[Symbol.asyncDispose]();
      } finally {
        await lease[Symbol.asyncDispose]();
      }
    },
  };
}

/** What a limit ended is a failure, however far it had come: otherwise never answering would be as good as answering. */
function finished(verdict: Verdict, stop: StopReason, { limitReward }: WebTaskConfig): FinishedOutcome {
  if (limitReward === 'keep' || stop === 'answered' || (verdict.reward <= 0 && !verdict.success)) {
    return { kind: 'finished', ...verdict, stop };
  }
  const { success, reward, details } = verdict;
  return {
    kind: 'finished',
    success: false,
    reward: Math.min(reward, 0),
    stop,
    clamped: true,
    details: { ...details, graded: { success, reward } },
  };
}

function cellFacts(result: BrowserReplResult): JsonObject {
  const { success, repl_id, duration_ms = 0, content_truncated = false, repl_terminated = false } = result;
  return { success, repl_id, duration_ms, content_truncated, repl_terminated };
}

/** `null` where the host is somebody else's. */
function asEntries(entries: readonly ActionEntry[] | undefined): readonly JsonObject[] | null {
  return entries === undefined ? null : entries.map((entry) => asJson(entry));
}
