// The tables of `report.markup`: figures by stage, comparisons, success and failures by number of wanted boxes.

import { percent, percentRange, points, pointsRange, pValue } from '../util/index.ts';
import { FAILURE_CLASSES } from './failure-classes.ts';
import { markup, NOTHING, type Html } from './markup.ts';
import type { Report, StageReport } from './report-schema.ts';

const NONE = '\u2013';

export function stageTable({ stages, baselines }: Pick<Report, 'stages' | 'baselines'>): Html {
  const someInvalid = stages.some(({ invalid }) => invalid > 0);
  const rows = stages.map(
    (stage) =>
      markup`<tr>
        <td>${stage.title}</td>
        <td>${stage.exact === null ? NONE : percent(stage.exact)}</td>
        <td>${percentRange(stage.exactCI)}</td>
        <td>${stage.successes} / ${stage.valid}</td>
        <td class="${stage.invalid > 0 ? 'warn' : 'zero'}">${stage.invalid}</td>
        ${someInvalid ? markup`<td>${percentRange(stage.exactBounds)}</td>` : NOTHING}
        <td>${stage.lenient === null ? NONE : percent(stage.lenient)}</td>
        <td>${stage.rawMean === null ? NONE : stage.rawMean.toFixed(2)}</td>
        <td>${stage.actionsMean === null ? NONE : stage.actionsMean.toFixed(1)}</td>
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
  return markup`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th>Stage</th>
          <th>Exact success</th>
          <th>95 % interval<small>Wilson</small></th>
          <th>Solved / valid</th>
          <th>Invalid</th>
          ${someInvalid ? markup`<th>Worst to best case<small>invalid all failed, all solved</small></th>` : NOTHING}
          <th>Raw reward &gt; 0</th>
          <th>Raw reward<small>mean</small></th>
          <th>Actions<small>mean</small></th>
        </tr>
      </thead>
      <tbody>
        ${rows}${blind}
      </tbody>
    </table>
  </div>`;
}

export function comparisonTable({ comparisons, stages }: Pick<Report, 'comparisons' | 'stages'>): Html {
  const title = (name: string): string => stages.find((stage) => stage.name === name)?.title ?? name;
  const rows = comparisons.map(
    (c) =>
      markup`<tr>
        <td>${title(c.a)} → ${title(c.b)}</td>
        <td>${c.difference === null ? NONE : points(c.difference)}</td>
        <td>${c.bootstrapCI === null ? NONE : pointsRange(c.bootstrapCI)}</td>
        <td>${pValue(c.mcnemarP)}</td>
        <td>${c.gained}</td>
        <td>${c.lost}</td>
        <td>${c.n}${c.dropped > 0 ? markup`<small>${c.dropped} left out</small>` : NOTHING}</td>
        <td>${c.detectable === null ? NONE : percent(c.detectable).replace('%', 'pts')}</td>
      </tr>`,
  );
  return markup`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th>Comparison</th>
          <th>Difference</th>
          <th>95 % interval<small>paired bootstrap</small></th>
          <th>p<small>exact McNemar</small></th>
          <th>Newly solved</th>
          <th>Newly failed</th>
          <th>Puzzles</th>
          <th>Detectable<small>with power 0.8</small></th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
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
  return markup`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th>Wanted boxes</th>
          ${columns.map((wanted) => markup`<th>${wanted}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
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
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>Wanted boxes</th>
            <th>Puzzles</th>
            ${FAILURE_CLASSES.map((name) => markup`<th>${name.replace('-', ' ')}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`;
}
