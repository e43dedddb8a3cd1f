// Shows progress events: a line that is redrawn on a terminal, plain lines elsewhere, JSON lines for programs. It
// keeps what it needs to draw and nothing else; it prints no results.

import type { ProgressEvent, ProgressListener } from '../core/index.ts';
import { duration } from '../util/index.ts';
import { createPaint, isLiveTerminal, type Environment, type Paint, type TextStream } from './output.ts';
import { printable } from './printable.ts';
import { describeProgress, type StageProgress } from './stage-progress.ts';

/** `quiet` shows warnings only; `json` writes each event as one line of JSON. */
export type ProgressMode = 'normal' | 'quiet' | 'json';

export type ProgressOptions = {
  readonly stream: TextStream;
  /** Default `normal`. */
  readonly mode?: ProgressMode;
  /** Of TERM, CI and NO_COLOR. Default none set. */
  readonly environment?: Environment;
  /** Milliseconds, any origin. Default `performance.now`. */
  readonly now?: () => number;
};

/** Between two drawings of the live line. */
const REDRAW_MS = 100;
/** A plain line follows the last one after this time, or after this share of the stage, whichever is first. */
const PLAIN_MS = 5000;
const PLAIN_SHARE = 0.1;
const CLEAR_LINE = '\r\u001b[2K';

export function createProgress(options: ProgressOptions): ProgressListener {
  const { stream, mode = 'normal', environment = {}, now = () => performance.now() } = options;
  switch (mode) {
    case 'json':
      return (event) => void stream.write(`${JSON.stringify(event)}\n`);
    case 'quiet':
      return (event) => {
        if (event.kind === 'note' && event.level === 'warning') stream.write(`warning: ${printable(event.message)}\n`);
      };
    case 'normal': {
      const paint = createPaint(stream, environment);
      return isLiveTerminal(stream, environment)
        ? liveProgress({ stream, paint, now })
        : plainProgress({ stream, paint, now });
    }
  }
  return mode satisfies never;
}

type Parts = { readonly stream: TextStream; readonly paint: Paint; readonly now: () => number };

function liveProgress({ stream, paint, now }: Parts): ProgressListener {
  let stage: StageProgress | undefined;
  let drawnAt = -Infinity;
  const draw = (): void => {
    if (stage === undefined) return;
    drawnAt = now();
    stream.write(
      CLEAR_LINE + describeProgress(stage, { now: drawnAt, paint, width: (stream.columns ?? 80) - 1, bar: true }),
    );
  };
  return (event) => {
    stage = follow(stage, event, now());
    const line = permanentLine(event, stage, paint);
    if (line !== undefined) {
      stream.write(`${CLEAR_LINE}${line}\n`);
      if (event.kind === 'stage-end') stage = undefined;
      draw();
    } else if (event.kind === 'stage-start' || now() - drawnAt >= REDRAW_MS) {
      draw();
    }
  };
}

function plainProgress({ stream, paint, now }: Parts): ProgressListener {
  let stage: StageProgress | undefined;
  let last = { at: -Infinity, done: 0 };
  return (event) => {
    const at = now();
    const before = stage;
    stage = follow(stage, event, at);
    const line = permanentLine(event, stage, paint);
    if (line !== undefined) stream.write(`${line}\n`);
    if (event.kind === 'stage-end') stage = undefined;
    if (stage === undefined || event.kind === 'note') return;
    if (event.kind === 'stage-start') {
      last = { at, done: 0 };
      stream.write(`${stage.title}: ${stage.total} ${stage.unit}\n`);
      return;
    }
    const moved = stage.done !== before?.done;
    if (moved && (at - last.at >= PLAIN_MS || stage.done - last.done >= PLAIN_SHARE * stage.total)) {
      last = { at, done: stage.done };
      stream.write(`${describeProgress(stage, { now: at, paint, width: Infinity, bar: false })}\n`);
    }
  };
}

/** The state of the stage after `event`; undefined between stages. */
function follow(stage: StageProgress | undefined, event: ProgressEvent, at: number): StageProgress | undefined {
  switch (event.kind) {
    case 'stage-start':
      return { title: event.title, total: event.total, unit: event.unit, startedAt: at, done: 0, doneAtStart: 0 };
    case 'episode-end':
      if (stage === undefined) return undefined;
      // In a stage that counts steps these are the episodes of the step that is going on.
      return stage.unit === 'episodes'
        ? { ...stage, ...counted(stage, event.done), episodes: event }
        : { ...stage, episodes: event };
    case 'step-end':
      if (stage === undefined) return undefined;
      return { ...stage, ...counted(stage, event.done), step: event, episodes: undefined };
    case 'stage-end':
    case 'note':
      return stage;
  }
  return event satisfies never;
}

/** A resumed stage begins with what was done before: that part took no time here. */
function counted(stage: StageProgress, done: number): Pick<StageProgress, 'done' | 'doneAtStart'> {
  return { done, doneAtStart: stage.done === 0 ? done - 1 : stage.doneAtStart };
}

/** What stays on the screen: notes, and the end of a stage. */
function permanentLine(event: ProgressEvent, stage: StageProgress | undefined, paint: Paint): string | undefined {
  if (event.kind === 'note') {
    const message = printable(event.message); // a server may have worded it
    return event.level === 'warning' ? paint('yellow', `warning: ${message}`) : message;
  }
  if (event.kind !== 'stage-end') return undefined;
  return `${paint('green', 'done')} ${paint('bold', stage?.title ?? event.stage)}  ${event.summary}  ${paint('dim', duration(event.seconds))}`;
}
