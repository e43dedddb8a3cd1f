// The style sheet of `report.markup`: one column for a laptop, light and dark, printable. Colours of stages and failure
// classes are named here and nowhere else.

export const REPORT_STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fafaf8; --card: #ffffff; --ink: #1b1f24; --soft: #5d6570; --faint: #707882; --rule: #e3e4e0;
  --stage-0: #a5b0bc; --stage-1: #5f90bd; --stage-2: #0d7d62; --stage-3: #7a5aa6; --accent: #0d7d62;
  --solved: #cde5da; --premature-submit: #dfa23a; --repeated-click: #8d6cb4; --wrong-box: #c4553f;
  --malformed-call: #7d838c; --budget-exhausted: #4a86c2; --mark: #fdeeb8; --heat: 13, 125, 98;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171a; --card: #1b1f23; --ink: #e6e8ea; --soft: #a3abb5; --faint: #838c97; --rule: #2c3238;
    --stage-0: #6b7682; --stage-1: #5f93c4; --stage-2: #35b48f; --stage-3: #a78bd0; --accent: #35b48f;
    --solved: #1f4a3d; --premature-submit: #d69a35; --repeated-click: #9d7fc6; --wrong-box: #d0664f;
    --malformed-call: #8a919b; --budget-exhausted: #5b95cf; --mark: #4d431c; --heat: 53, 180, 143;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 1040px; margin: 0 auto; padding: 48px 32px 80px; }
h1 { font-size: 30px; line-height: 1.25; font-weight: 650; letter-spacing: -0.015em; margin: 8px 0 10px; max-width: 26em; text-wrap: balance; }
h2 { font-size: 20px; font-weight: 650; letter-spacing: -0.01em; margin: 56px 0 4px; }
h3 { font-size: 14px; font-weight: 600; margin: 24px 0 6px; }
p { margin: 0 0 14px; max-width: 46em; }
p.lead { color: var(--soft); }
.eyebrow { color: var(--accent); font-size: 13px; font-weight: 600; letter-spacing: 0.04em; }
.facts { display: flex; flex-wrap: wrap; gap: 4px 24px; color: var(--soft); font-size: 14px; padding: 0; margin: 0; list-style: none; }
.facts b { color: var(--ink); font-weight: 600; }
.card { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 18px 20px; margin: 14px 0; }
.scroll { overflow-x: auto; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--ink); font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; }
svg .tick, svg .note { fill: var(--faint); font-size: 11px; }
svg .strong { font-weight: 650; }
svg .grid { stroke: var(--rule); }
svg .baseline { stroke: var(--soft); stroke-dasharray: 3 3; }
svg .whisker { stroke: var(--ink); stroke-width: 1.5; }
svg .raw { fill: none; stroke: var(--accent); stroke-width: 1; opacity: 0.35; }
svg .smooth { fill: none; stroke: var(--accent); stroke-width: 2; stroke-linejoin: round; }
svg .inside { fill: #1b1f24; font-size: 11px; } svg .on-solved { fill: var(--ink); }
.stage-0 { fill: var(--stage-0); } .stage-1 { fill: var(--stage-1); } .stage-2 { fill: var(--stage-2); } .stage-3 { fill: var(--stage-3); }
.solved { fill: var(--solved); background: var(--solved); }
.premature-submit { fill: var(--premature-submit); background: var(--premature-submit); }
.repeated-click { fill: var(--repeated-click); background: var(--repeated-click); }
.wrong-box { fill: var(--wrong-box); background: var(--wrong-box); }
.malformed-call { fill: var(--malformed-call); background: var(--malformed-call); }
.budget-exhausted { fill: var(--budget-exhausted); background: var(--budget-exhausted); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; font-size: 13px; color: var(--soft); margin: 0 0 10px; padding: 0; list-style: none; }
.swatch { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 6px; }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(290px, 1fr)); gap: 14px; margin: 14px 0; }
.panels .card { margin: 0; padding: 12px 14px 8px; }
.panels h3 { margin: 0 0 4px; }
.panels small { display: block; color: var(--faint); font-weight: 400; font-size: 12px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 6px 10px; border-bottom: 1px solid var(--rule); white-space: nowrap; }
tr:last-child td { border-bottom: 0; }
th { color: var(--soft); font-weight: 500; font-size: 13px; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td small, th small { display: block; color: var(--faint); font-size: 11px; line-height: 1.2; }
td.zero { color: var(--faint); }
td.warn { color: var(--wrong-box); font-weight: 600; }
.h0 { background: rgba(var(--heat), 0.03); } .h1 { background: rgba(var(--heat), 0.08); } .h2 { background: rgba(var(--heat), 0.14); }
.h3 { background: rgba(var(--heat), 0.2); } .h4 { background: rgba(var(--heat), 0.27); } .h5 { background: rgba(var(--heat), 0.34); }
details { border-top: 1px solid var(--rule); padding: 10px 0; }
details:first-of-type { border-top: 0; }
summary { cursor: pointer; font-size: 14px; overflow-wrap: anywhere; }
summary b { font-weight: 600; } summary small { color: var(--soft); font-size: 12px; } details > p { margin: 10px 0 4px; font-size: 14px; }
.badge { display: inline-block; font-size: 12px; font-weight: 600; border-radius: 999px; padding: 0 9px; margin: 0 6px; border: 1px solid currentcolor; }
.badge.good { color: var(--accent); } .badge.bad { color: var(--wrong-box); }
ol.steps { list-style: none; margin: 14px 0 4px; padding: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(300px, 1fr)); gap: 14px; }
ol.steps li { border: 1px solid var(--rule); border-radius: 8px; overflow: hidden; min-width: 0; }
.step-head { font-size: 13px; padding: 7px 11px; border-bottom: 1px solid var(--rule); overflow-wrap: anywhere; }
.step-head b { color: var(--accent); font-weight: 600; margin-right: 6px; }
.step-head em { color: var(--wrong-box); font-style: normal; display: block; }
ol.steps img { display: block; max-width: calc(100% - 22px); margin: 10px auto; border: 1px solid var(--rule); border-radius: 4px; }
pre { margin: 0; padding: 9px 11px; font: 11.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere; color: var(--soft); max-height: 24em; overflow-y: auto; }
pre mark { background: var(--mark); color: var(--ink); }
.settings { columns: 2; column-gap: 40px; font-size: 13px; margin: 0; }
.settings div { display: flex; justify-content: space-between; gap: 16px; border-bottom: 1px solid var(--rule); padding: 3px 0; break-inside: avoid; }
.settings dt { color: var(--soft); } .settings dd { margin: 0; text-align: right; overflow-wrap: anywhere; }
ul.notes { padding-left: 1.1em; max-width: 46em; } ul.notes li { margin-bottom: 6px; }
@media (max-width: 700px) { main { padding: 28px 18px 60px; } h1 { font-size: 24px; } .settings { columns: 1; } }
@media print {
  :root { color-scheme: light; }
  body { background: #fff; font-size: 12px; } main { max-width: none; padding: 0; }
  .card, ol.steps li, tr { break-inside: avoid; } h2 { break-after: avoid; } pre { max-height: none; }
}
`;
