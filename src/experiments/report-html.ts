// `report.html`: the report as one page that needs nothing else - no script, no request, nothing but its own style
// sheet. It computes no figures; those are the report's.

import { createHash } from 'node:crypto';
import type { JsonValue } from '../core/index.ts';
import type { MetricsRow } from '../store/index.ts';
import { duration, percent } from '../util/index.ts';
import { curvePanels } from './chart-curves.ts';
import { failureChart, failureLegend } from './chart-failures.ts';
import { successChart } from './chart-success.ts';
import { markup, htmlToString, NOTHING, styleElement, type Html } from './markup.ts';
import { replaySection, type Replay } from './replays.ts';
import type { Report } from './report-schema.ts';
import { REPORT_STYLE } from './report-style.ts';
import { comparisonTable, failureTable, stageTable, successByWanted } from './report-tables.ts';

export type ReportPageParts = {
  /** Rows of `metrics.jsonl`. */
  readonly curves: readonly MetricsRow[];
  readonly replays: readonly Replay[];
};

export function renderReportHtml(report: Report, { curves, replays }: ReportPageParts): string {
  // The hash lets this style sheet in and no other: markup that slipped through could neither load nor style anything.
  const styleHash = createHash('sha256').update(REPORT_STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; base-uri 'none'; form-action 'none'`;
  const page = markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${report.env}: ${report.headline}</title>
        ${styleElement(REPORT_STYLE)}
      </head>
      <body>
        <main>
          ${head(report)}
          ${successSection(report)}
          ${comparisonSection(report)}
          ${curveSection(report, curves)}
          ${failureSection(report)}
          ${replaysSection(replays)}
          ${settingsSection(report)}
          ${notesSection(report)}
        </main>
      </body>
    </html>
`;
  return htmlToString(page);
}

function head({ headline, context, env, model, seconds, seeds, commit, machine }: Report): Html {
  const facts = [
    ['Took', duration(seconds)],
    ['Seed', seeds.run],
    ['Commit', commit?.slice(0, 10) ?? 'unknown'],
    ['On', machine.processor],
    ['Cores', machine.cores],
  ];
  return markup`<header>
    <div class="eyebrow">${env} · ${model}</div>
    <h1>${headline}</h1>
    <p class="lead">${context}</p>
    <ul class="facts">
      ${facts.map(([name, value]) => markup`<li>${name} <b>${value}</b></li>`)}
    </ul>
  </header>`;
}

function successSection(report: Report): Html {
  const { count } = report.seeds.evaluation;
  return markup`<section>
    <h2>Exact success</h2>
    <p class="lead">
      Every box right when Submit is pressed. Each stage was tried on the same ${count} puzzles, none of which was
      trained on. Whiskers are 95 % intervals.
    </p>
    <div class="card">${successChart(report)}</div>
    ${stageTable(report)}
    <h3>By number of wanted boxes</h3>
    ${successByWanted(report.stages)}
  </section>`;
}

function comparisonSection(report: Report): Html {
  if (report.comparisons.length === 0) return NOTHING;
  return markup`<section>
    <h2>Did each stage help?</h2>
    <p class="lead">
      Compared puzzle by puzzle. “Detectable” is the smallest true difference that this many puzzles would have shown
      four times in five.
    </p>
    ${comparisonTable(report)}
  </section>`;
}

function curveSection({ stages }: Report, curves: readonly MetricsRow[]): Html {
  const panels = curvePanels(curves, (name) => stages.find((stage) => stage.name === name)?.title ?? name);
  if (panels.length === 0) return NOTHING;
  return markup`<section>
    <h2>Training</h2>
    <p class="lead">
      By step; the bold line is the running mean over five. Success here is on training puzzles with sampling, not on
      the held-out ones.
    </p>
    <div class="panels">${panels}</div>
  </section>`;
}

function failureSection({ stages }: Report): Html {
  const tables = stages.map(
    (stage, i) =>
      markup`<details ${i === stages.length - 1 ? markup`open` : NOTHING}>
        <summary><b>${stage.title}</b> by number of wanted boxes</summary>
        ${failureTable(stage)}
      </details>`,
  );
  return markup`<section>
    <h2>What became of the episodes</h2>
    <p class="lead">Each failure has one class, by what ended the episode.</p>
    <div class="card">${failureLegend()}${failureChart(stages)}</div>
    ${tables}
  </section>`;
}

function replaysSection(replays: readonly Replay[]): Html {
  if (replays.length === 0) return NOTHING;
  return markup`<section>
    <h2>Episodes, step by step</h2>
    <p class="lead">What the agent saw before each action, and what it did. The control that it chose is marked.</p>
    <div class="card">${replays.map((replay, i) => replaySection(replay, i < 2))}</div>
  </section>`;
}

function settingsSection({ config, machine, seeds, commit }: Report): Html {
  const { evaluation, ...others } = seeds;
  const seedRows = flatten(
    { ...others, evaluation: `${evaluation.first} to ${evaluation.first + evaluation.count - 1}` },
    'seeds.',
  );
  const rows = [
    ...flatten(config),
    ...seedRows,
    ...flatten(machine, 'machine.'),
    ['commit', commit ?? 'unknown'] as const,
  ];
  return markup`<section>
    <h2>Settings and machine</h2>
    <div class="card">
      <dl class="settings">
        ${rows.map(
          ([key, value]) =>
            markup`<div>
              <dt>${key}</dt>
              <dd>${value}</dd>
            </div>`,
        )}
      </dl>
    </div>
  </section>`;
}

function notesSection({ stages, comparisons, seeds }: Report): Html {
  const invalid = stages.reduce((sum, stage) => sum + stage.invalid, 0);
  const half = comparisons.at(-1)?.hoeffdingHalfWidth ?? null;
  return markup`<section>
    <h2>What this does and does not show</h2>
    <ul class="notes">
      <li>
        The intervals speak of the choice of ${seeds.evaluation.count} puzzles, with these weights. They say nothing of
        how another training seed would have ended; for that, repeat the run with other seeds.
      </li>
      <li>
        ${invalid === 0 ? 'No episode was invalid.' : `${invalid} episodes broke for reasons that were not the agent's (browser, environment). They are counted beside the figures and enter none; the worst and best case are in the table.`}
      </li>
      <li>The p-values are not corrected for the ${comparisons.length} comparisons of this page.</li>
      ${half === null ? NOTHING : markup`<li>Without any assumption on the distribution a difference is known to ± ${percent(half)} only (Hoeffding's bound); the bootstrap's intervals are narrower and approximate.</li>`}
      <li>
        “Raw reward &gt; 0” is what some suites call success: most boxes right. It is shown to make figures comparable,
        and rewarding it teaches early submission.
      </li>
      <li>The puzzles are generated pages of one kind. Nothing here is about other websites.</li>
    </ul>
  </section>`;
}

/** Settings as rows of dotted name and value. */
function flatten(value: { readonly [key: string]: JsonValue }, prefix = ''): (readonly [string, string])[] {
  return Object.entries(value).flatMap(([name, inner]) => {
    const key = prefix + name;
    if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) {
      return flatten(inner as { readonly [key: string]: JsonValue }, `${key}.`);
    }
    return [[key, typeof inner === 'string' ? inner : JSON.stringify(inner)] as const];
  });
}
