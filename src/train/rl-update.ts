// One update from a batch of groups: rewards to advantages to rows to gradients to a step. No episodes, no files;
// `rl.ts` has those.

import { TabwrightError, type Group, type LossConfig, type Sampler, type Trainer } from '../core/index.ts';
import {
  aggregate,
  applyKlPenalty,
  countActionTokens,
  groupAdvantages,
  groupMetrics,
  isMixed,
  mismatchMetrics,
  policyDatum,
  trajectoryToRows,
  type PolicyRow,
} from '../algorithms/index.ts';
import type { Rng } from '../util/index.ts';
import { DEFAULT_CALL_MS, withCallDeadline } from './call-deadlines.ts';
import type { RlConfig } from './rl-config.ts';
import { groupRewards, shuffleRewards, type GroupRewards } from './rl-rewards.ts';

export type RlUpdateOptions = {
  readonly trainer: Trainer;
  readonly groups: readonly Group[];
  readonly config: RlConfig;
  readonly learningRate: number;
  /** The policy that `config.beta` holds on to; needed when beta is above 0. */
  readonly reference?: Sampler;
  /** Shuffles the rewards of the negative control. */
  readonly rng: Rng;
  readonly signal: AbortSignal;
  /** Milliseconds of one score of the reference. Default 1,800,000. */
  readonly referenceCallMs?: number;
};

/**
 * Carries out the update and says what it was made of. Without a mixed group there is no update at all: Adam would
 * move the weights on nothing but its memory.
 */
export async function rlUpdate(options: RlUpdateOptions): Promise<Readonly<Record<string, number>>> {
  const { trainer, groups, config, learningRate, reference, rng, signal, referenceCallMs = DEFAULT_CALL_MS } = options;
  const given = groupRewards(groups, config);
  const rewards = config.shuffleRewards ? shuffleRewards(given, rng) : given;
  const { rows, trajectories } = trainingRows(groups, rewards, config);
  const metrics: Record<string, number> = {
    ...groupMetrics(groups, (group) => rewards[groups.indexOf(group)]),
    'optim/rows': rows.length,
    'optim/action_tokens': countActionTokens(rows),
    'optim/updates': 0,
  };
  if (rows.length === 0) return metrics;
  metrics['datums_per_trajectory'] = rows.length / trajectories;

  let penalised = rows;
  if (config.beta > 0) {
    if (reference === undefined) throw noReference(config.beta);
    const result = applyKlPenalty(rows, {
      beta: config.beta,
      reference: await referenceLogprobs(rows, reference, { signal, ms: referenceCallMs }),
    });
    penalised = result.rows;
    metrics['kl_policy_base'] = result.kl;
  }
  const trained = aggregate(penalised, config.aggregation);
  const data = trained.map(policyDatum);
  const lossConfig: LossConfig = {
    ...(config.clipLow === undefined ? {} : { clipLow: config.clipLow }),
    ...(config.clipHigh === undefined ? {} : { clipHigh: config.clipHigh }),
  };
  for (let update = 0; update < config.updatesPerBatch; update++) {
    const output = await trainer.forwardBackward(data, config.loss, lossConfig, { signal });
    // Before the first step, trainer and sampler have the same weights: the difference is numerics alone.
    if (update === 0)
      Object.assign(metrics, mismatchMetrics(trained, output.logprobs), { 'optim/loss': output.metrics['loss:sum'] });
    const { gradClipNorm, weightDecay } = config;
    const step = await trainer.optimStep({ learningRate, gradClipNorm, weightDecay }, { signal });
    Object.assign(metrics, step.metrics);
    metrics['optim/updates']++;
  }
  return metrics;
}

function noReference(beta: number): TabwrightError {
  return new TabwrightError(
    'config',
    `beta is ${beta} and there is no reference to hold on to; give one, or set beta 0.`,
    {
      code: 'no-reference',
      details: { beta },
    },
  );
}

function trainingRows(
  groups: readonly Group[],
  rewards: GroupRewards,
  config: RlConfig,
): { readonly rows: readonly PolicyRow[]; readonly trajectories: number } {
  let trajectories = 0;
  const rows = groups.flatMap((group, g) => {
    // Constant groups say nothing. Where all are, there are no rows and there is no step.
    if (!isMixed(rewards[g])) return [];
    const advantages = groupAdvantages(rewards[g], { normalise: config.normalise });
    return group.trajectories.flatMap((trajectory, member) => {
      const advantage = advantages[member];
      if (advantage === null) return [];
      trajectories++;
      return trajectoryToRows(trajectory.turns, advantage);
    });
  });
  return { rows, trajectories };
}

async function referenceLogprobs(
  rows: readonly PolicyRow[],
  reference: Sampler,
  { signal, ms }: { readonly signal: AbortSignal; readonly ms: number },
): Promise<readonly (readonly number[])[]> {
  const deadline = { stage: 'the reference', ms };
  return Promise.all(
    rows.map(async ({ tokens, targets }) => {
      const whole = [...tokens, targets[targets.length - 1]];
      const scores = await withCallDeadline(deadline, { what: 'compute_logprobs', signal }, (within) =>
        reference.computeLogprobs(whole, within),
      );
      return scores.slice(1);
    }),
  );
}
