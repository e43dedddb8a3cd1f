// One stage's state as one line of text: how far, how well, how fast, how long still. Pure.

import type { ProgressEvent } from '../core/index.ts';
import { compact, duration, percent } from '../util/index.ts';
import type { Paint, Style } from './output.ts';

export type StageProgress = {
  readonly title: string;
  readonly total: number;
  readonly unit: 'episodes' | 'steps' | 'tokens';
  /** Milliseconds on the caller's clock. */
  readonly startedAt: number;
  readonly done: number;
  /** What was done before the stage was resumed. */
  readonly doneAtStart: number;
  /** The latest event of each kind. */
  readonly episodes?: Extract<ProgressEvent, { kind: 'episode-end' }> | undefined;
  readonly step?: Extract<ProgressEvent, { kind: 'step-end' }>;
};

export type DescribeOptions = {
  /** Milliseconds on the clock of `startedAt`. */
  readonly now: number;
  readonly paint: Paint;
  /** In characters; parts at the end that do not fit are left out. */
  readonly width: number;
  readonly bar: boolean;
};

const BAR_WIDTH = 16;

export function describeProgress(stage: StageProgress, { now, paint, width, bar }: DescribeOptions): string {
  const parts: { text: string; style?: Style }[] = [
    { text: stage.title, style: 'bold' },
    ...(bar ? [{ text: drawBar(stage), style: 'cyan' as const }] : []),
    { text: `${stage.done}/${stage.total} ${stage.unit}` },
    ...figures(stage).map((text) => ({ text })),
    ...timeLeft(stage, now).map((text) => ({ text, style: 'dim' as const })),
  ];
  let line = '';
  let used = 0;
  for (const { text, style } of parts) {
    const room = width - used - (used === 0 ? 0 : 2);
    if (text.length > room && used > 0) break;
    const shown = text.slice(0, Math.max(room, 0));
    line += `${used === 0 ? '' : '  '}${style === undefined ? shown : paint(style, shown)}`;
    used += shown.length + (used === 0 ? 0 : 2);
  }
  return line;
}

function figures({ unit, episodes, step }: StageProgress): string[] {
  const success = step?.metrics['env/all/success'];
  const loss = step?.metrics['train_mean_nll'];
  const valid = episodes === undefined ? 0 : episodes.done - episodes.invalid;
  return [
    ...(episodes !== undefined && unit === 'episodes' && valid > 0
      ? [`success ${percent(episodes.successes / valid)}`]
      : []),
    ...(success === undefined ? [] : [`success ${percent(success)}`]),
    ...(loss === undefined ? [] : [`loss ${compact(loss)}`]),
    ...(step === undefined ? [] : [`${compact(step.tokensPerSecond)} tokens/s`]),
    ...(episodes !== undefined && unit !== 'episodes' ? [`rollout ${episodes.done}/${episodes.total}`] : []),
    ...(episodes !== undefined && episodes.invalid > 0 ? [`${episodes.invalid} invalid`] : []),
  ];
}

function timeLeft({ done, doneAtStart, total, startedAt }: StageProgress, now: number): string[] {
  if (done <= doneAtStart || done >= total) return [];
  const secondsPerItem = (now - startedAt) / 1000 / (done - doneAtStart);
  return [`${duration(secondsPerItem * (total - done))} left`];
}

function drawBar({ done, total }: StageProgress): string {
  const full = total === 0 ? 0 : Math.round((BAR_WIDTH * Math.min(done, total)) / total);
  return '\u2588'.repeat(full) + '\u2591'.repeat(BAR_WIDTH - full);
}
