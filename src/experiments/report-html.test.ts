// The page: complete, self-contained, and harmless whatever the pages under test contain. One test opens it in a
// real Chromium and listens for requests.

import { describe, expect, test } from 'vitest';
import type { MetricsRow } from '../store/index.ts';
import { MACHINE, playEpisode, playMany } from './fixtures/episodes.ts';
import { markup, htmlToString, styleElement } from './markup.ts';
import { buildReport, chooseReplays, renderReportHtml, type EvaluatedStage, type Replay } from './index.ts';

const EVALUATION = { first: 1_000_000, count: 80 };
const STAGES: readonly EvaluatedStage[] = [
  { name: 'base', title: 'Base', trajectories: playMany({ diligence: 0.4, slip: 0.3 }, EVALUATION) },
  { name: 'rl', title: 'GRPO', trajectories: playMany({ diligence: 0.99, slip: 0.02 }, EVALUATION) },
];
const REPORT = buildReport({
  env: 'click-checkboxes',
  model: 'nano',
  stages: STAGES,
  baselines: [{ title: 'Blind Submit', exact: 0.0969, lenient: 0.3813 }],
  seconds: 421,
  seeds: { run: 7, evaluation: EVALUATION },
  machine: MACHINE,
  commit: '0123456789abcdef',
  config: { seed: 7, model: 'nano', rl: { groups: 16 } },
  resamples: 500,
});
const CURVES: readonly MetricsRow[] = Array.from({ length: 12 }, (_, step) => ({
  stage: 'rl',
  step,
  'env/all/success': step / 12,
  'optim/entropy': 1 - step / 20,
}));
const PIXEL = Uint8Array.from([137, 80, 78, 71]);

describe('chooseReplays', () => {
  test('shows a puzzle before and after training, and a failure that remains', () => {
    const [after, before, failed] = chooseReplays(STAGES);
    expect(after).toMatchObject({ stage: 'GRPO', trajectory: { outcome: { success: true } } });
    expect(before).toMatchObject({ stage: 'Base', trajectory: { outcome: { success: false } } });
    expect(before.trajectory.task.id).toBe(after.trajectory.task.id);
    expect(failed).toMatchObject({ stage: 'GRPO', trajectory: { outcome: { success: false } } });
  });

  test('prefers episodes with pictures over harder ones without', () => {
    const withPictures = playEpisode({ seed: 2, wanted: [true], steps: [0, 'submit'], screenshot: (i) => `${i}.png` });
    const harder = playEpisode({ seed: 1, wanted: [true, true], steps: [0, 1, 'submit'] });
    const [choice] = chooseReplays([{ name: 'rl', title: 'GRPO', trajectories: [harder, withPictures] }]);
    expect(choice.trajectory).toBe(withPictures);
  });

  test('has nothing to show without stages', () => expect(chooseReplays([])).toEqual([]));
});

describe('renderReportHtml', () => {
  const replays = chooseReplays(STAGES).map((choice): Replay => ({ ...choice, pictures: [PIXEL] }));
  const page = renderReportHtml(REPORT, { curves: CURVES, replays });

  test('says the headline, every stage and every setting', () => {
    for (const text of [
      MACHINE.processor,
      'GRPO solves',
      'Base \u2192 GRPO',
      'rl.groups',
      'Blind Submit',
      '0123456789',
      'Entropy',
    ]) {
      expect(page).toContain(text);
    }
  });

  test('carries its pictures inside', () =>
    expect(page).toContain(`data:image/png;base64,${Buffer.from(PIXEL).toString('base64')}`));

  test('has no script, no address of another place, and forbids both', () => {
    expect(page).toContain('default-src &#39;none&#39;');
    expect(page).not.toMatch(/<script|javascript:|https?:|@import|url\(|<link|<iframe|\son\w+=/i);
  });

  test('writes no NaN, no undefined and no placeholder', () => {
    expect(page).not.toMatch(/NaN|undefined|\[object/);
  });

  test('shows the hostile content of a page as text', () => {
    const attack = '</pre><script>steal()</script><img src=x onerror="steal()"><style>*{display:none}</style>';
    const episode = playEpisode({ seed: 1, wanted: [true], steps: ['malformed', 0, 'submit'] });
    const trajectory = {
      ...episode,
      task: { ...episode.task, instruction: attack },
      turns: episode.turns.map((turn) => ({
        ...turn,
        page: attack,
        notice: attack,
        action: { kind: 'malformed', problem: attack, text: attack } as const,
        info: { ...turn.info, name: attack, role: attack },
      })),
    };
    const hostile = renderReportHtml(REPORT, {
      curves: [],
      replays: [{ stage: attack, reason: attack, trajectory, pictures: [] }],
    });
    expect(hostile).not.toContain('<script');
    expect(hostile).not.toContain('<img src=x');
    expect(hostile.match(/<style>/g)).toHaveLength(1);
    expect(hostile).toContain('&lt;script&gt;steal()&lt;/script&gt;');
  });

  test('shows a run that has only begun', () => {
    const begun = buildReport({ ...REPORT, stages: STAGES.slice(0, 1), resamples: 500 });
    const text = renderReportHtml(begun, { curves: [], replays: [] });
    expect(text).toContain('Base solves');
    expect(text).not.toContain('Did each stage help?');
  });
});

describe('markup', () => {
  test('escapes values and not what it made itself', () => {
    const inner = markup`<b>${'<i>&"\''}</b>`;
    expect(htmlToString(markup`<p title="${'"x'}">${[inner, 3]}</p>`)).toBe(
      '<p title="&quot;x"><b>&lt;i&gt;&amp;&quot;&#39;</b>3</p>',
    );
  });

  test('makes control characters and direction marks visible', () => {
    expect(htmlToString(markup`${'a\u0000b\u202ec\td\n'}`)).toBe('a\ufffdb\ufffdc\td\n');
  });

  test('refuses a style sheet that could end its element', () =>
    expect(() => styleElement('</style>')).toThrow(RangeError));
});
