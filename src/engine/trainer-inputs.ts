// What a caller gives a trainer beside rows, checked: settings of a loss, and what a loss of the caller's own takes and gives.

import { TabwrightError, type CustomLoss, type Datum, type LossConfig, type LossName } from '../core/index.ts';
import { LOSS_SCALARS } from './losses.ts';
import type { Feeds } from './session.ts';

/** Loss settings as scalar inputs; a setting that the loss does not have is refused rather than ignored. */
export function lossScalars(loss: LossName, config: LossConfig): Feeds {
  const defaults: LossConfig = LOSS_SCALARS[loss];
  const feeds: Record<string, Feeds[string]> = {};
  for (const [name, value] of Object.entries({ ...defaults, ...config })) {
    if (!(name in defaults)) {
      const known = Object.keys(defaults).join(', ') || 'none';
      throw new TabwrightError('backend', `Loss ${loss} has no setting "${name}"; it has: ${known}.`, {
        code: 'unknown-loss-setting',
        details: { loss, name },
      });
    }
    if (!Number.isFinite(value)) {
      throw new TabwrightError('backend', `Setting "${name}" of loss ${loss} must be a finite number, not ${value}.`, {
        code: 'bad-loss-setting',
        details: { loss, name },
      });
    }
    feeds[`loss.${name}`] = { data: Float32Array.of(value), shape: [] };
  }
  return feeds;
}

/** What a custom loss uses of a row is its own affair; a row that brings more expects something that will not happen. */
export function checkCustomDatum({ lossInputs }: Datum, row: number): void {
  const extra = Object.keys(lossInputs).find((name) => name !== 'targetTokens' && name !== 'weights');
  if (extra === undefined) return;
  throw new TabwrightError(
    'backend',
    `Training row ${row}: a custom loss takes no input "${extra}", only targetTokens (and weights, for the loss's own use); use it inside the loss.`,
    { code: 'unknown-loss-input', details: { row, name: extra } },
  );
}

export function checkCustom(custom: ReturnType<CustomLoss>, logprobs: readonly Float32Array[]): void {
  const aligned =
    custom.gradients.length === logprobs.length &&
    logprobs.every((row, i) => row.length === custom.gradients[i].length);
  if (aligned) return;
  const shape = (rows: readonly ArrayLike<number>[]): string => `[${rows.map((row) => row.length).join(', ')}]`;
  throw new TabwrightError(
    'backend',
    `The custom loss returned gradients of lengths ${shape(custom.gradients)} for log-probabilities of lengths ${shape(logprobs)}; they must match.`,
    { code: 'custom-gradient-shape' },
  );
}
