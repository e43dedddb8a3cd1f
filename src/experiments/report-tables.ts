// The tables of `report.html`: figures by stage, comparisons, success and failures by number of wanted boxes.

import { percent, percentRange, points, pointsRange, pValue } from '../util/index.ts';
import { FAILURE_CLASSES } from './failure-classes.ts';
import { markup, NOTHING, type Html, type HtmlValue } from './markup.ts';
import type { Report, StageReport } from './report-schema.ts';

const NONE = '\u2013';

function orNone<T>(value: T | null, format: (value: T) => string): string {
  return value === null ? NONE : format(value);
}

/** A wide table scrolls by itself. */
function table(headings: readonly HtmlValue[], rows: readonly HtmlValue[]): Html {
  return markup`<div class="scroll">
    <table>
      <thead>
        <tr>
          ${headings.map((heading) => markup`<th>${heading}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

export function stageTable({ stages, baselines }: Pick<Report, 'stages' | 'baselines'>): Html {
  const someInvalid = stages.some(({ invalid }) => invalid > 0);
  const rows = stages.map(
    (stage) =>
      markup`<tr>
        <td>${stage.title}</td>
        <td>${orNone(stage.exact, percent)}</td>
        <td>${percentRange(stage.exactCI)}</td>
        <td>${stage.successes} / ${stage.valid}</td>
        <td class="${stage.invalid > 0 ? 'warn' : 'zero'}">${stage.invalid}</td>
        ${someInvalid ? markup`<td>${percentRange(stage.exactBounds)}</td>` : NOTHING}
        <td>${orNone(stage.lenient, percent)}</td>
        <td>${orNone(stage.rawMean, (mean) => mean.toFixed(2))}</td>
        <td>${orNone(stage.actionsMean, (mean) => mean.toFixed(1))}</td>
      </tr>`,
  );
  const blind = baselines.map(
    ({ title, exact, lenient }) =>
      markup`<tr>
        <td class="zero">${title}</td>
        <td class="zero">${percent(exact)}</td>
        <td class="zero" colspan="${someInvalid ? 4 : 3}">computed, not measured</td>
        <td class="zero">${percent(lenient)}</td>
        <td></td>
        <td></td>
      </tr>`,
  );
  return table(
    [
      'Stage',
      'Exact success',
      markup`95 % interval<small>Wilson</small>`,
      'Solved / valid',
      'Invalid',
      ...(someInvalid ? [markup`Worst to best case<small>invalid all failed, all solved</small>`] : []),
      'Raw reward > 0',
      markup`Raw reward<small>mean</small>`,
      markup`Actions<small>mean</small>`,
    ],
    [rows, blind],
  );
}

export function comparisonTable({ comparisons, stages }: Pick<Report, 'comparisons' | 'stages'>): Html {
  const title = (name: string): string => stages.find((stage) => stage.name === name)?.title ?? name;
  const rows = comparisons.map(
    (c) =>
      markup`<tr>
        <td>${title(c.a)} → ${title(c.b)}</td>
        <td>${orNone(c.difference, points)}</td>
        <td>${orNone(c.bootstrapCI, pointsRange)}</td>
        <td>${pValue(c.mcnemarP)}</td>
        <td>${c.gained}</td>
        <td>${c.lost}</td>
        <td>${c.n}${c.dropped > 0 ? markup`<small>${c.dropped} left out</small>` : NOTHING}</td>
        <td>${orNone(c.detectable, (share) => percent(share).replace('%', 'pts'))}</td>
      </tr>`,
  );
  return table(
    [
      'Comparison',
      'Difference',
      markup`95 % interval<small>paired bootstrap</small>`,
      markup`p<small>exact McNemar</small>`,
      'Newly solved',
      'Newly failed',
      'Puzzles',
      markup`Detectable<small>with power 0.8</small>`,
    ],
    rows,
  );
}

/** Exact success by stage and number of wanted boxes, the better the greener. */
export function successByWanted(stages: readonly StageReport[]): Html {
  const columns = [...new Set(stages.flatMap(({ byWanted }) => byWanted.map(({ wanted }) => wanted)))].sort(
    (a, b) => a - b,
  );
  const rows = stages.map(({ title, byWanted }) => {
    const cells = columns.map((wanted) => {
      const cell = byWanted.find((group) => group.wanted === wanted);
      if (cell === undefined) return markup`<td class="zero">${NONE}</td>`;
      return markup`<td class="h${Math.round(cell.exact * 5)}">
        ${percent(cell.exact)}<small>of ${cell.valid}</small>
      </td>`;
    });
    return markup`<tr>
      <td>${title}</td>
      ${cells}
    </tr>`;
  });
  return table(['Wanted boxes', ...columns], rows);
}

/** Failure classes of one stage by number of wanted boxes. */
export function failureTable(stage: StageReport): Html {
  const rows = stage.byWanted.map(({ wanted, valid, failures }) => {
    const cells = FAILURE_CLASSES.map(
      (name) => markup`<td class="${failures[name] === 0 ? 'zero' : ''}">${failures[name]}</td>`,
    );
    return markup`<tr>
      <td>${wanted}</td>
      <td>${valid}</td>
      ${cells}
    </tr>`;
  });
  const short = stage.shortBy.map(({ missing, episodes }) => `${episodes} by ${missing}`).join(', ');
  const failed = stage.valid - stage.successes;
  return markup`<p>
      ${failed === 0 ? 'No failure.' : `${failed} of ${stage.valid} failed.`}${short === '' ? '' : ` Premature submits were short: ${short}.`}
    </p>
    ${table(['Wanted boxes', 'Puzzles', ...FAILURE_CLASSES.map((name) => name.replace('-', ' '))], rows)}`;
}
