// The page of click-checkboxes. It is loaded once and then reused: `clickCheckboxes.start` builds everything anew,
// so that nothing of the last puzzle remains. It knows labels and the instruction's text, not which boxes count.
// The instruction is for people who look at pictures; it is hidden from the accessibility tree, because the agent
// is told its task elsewhere and must not find it in the page.

/** What `clickCheckboxes.state()` returns. */
export type BoxesState = {
  readonly submitted: boolean;
  /** Per box, in page order; as they were at the moment of submission once there was one. */
  readonly checked: readonly boolean[];
};

/** Expression that starts a puzzle in the page. */
export function startExpression(puzzle: { readonly labels: readonly string[]; readonly instruction: string }): string {
  return `clickCheckboxes.start(${JSON.stringify({ labels: puzzle.labels, instruction: puzzle.instruction })})`;
}

export const STATE_EXPRESSION = 'clickCheckboxes.state()';

export const PAGE_SOURCE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Click checkboxes</title>
<style>
  * { box-sizing: border-box; }
  body { margin: 0; background: #eef1f6; color: #1d2433; font: 13px/1.35 system-ui, "Open Sans", sans-serif; }
  main { max-width: 420px; margin: 0 auto; padding: 8px 10px; }
  h1 { margin: 0; font-size: 14px; }
  p { margin: 2px 0 8px; min-height: 35px; color: #48536b; overflow-wrap: anywhere; }
  form { padding: 8px; background: #fff; border: 1px solid #d5dbe7; border-radius: 8px; }
  fieldset { display: grid; grid-template-columns: 1fr 1fr; gap: 4px 8px; margin: 0; padding: 0; border: 0; min-width: 0; }
  label { display: flex; align-items: center; gap: 8px; min-width: 0; padding: 2px 6px; border-radius: 5px; background: #f6f8fb; }
  label span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-family: ui-monospace, monospace; }
  /* Drawn here, because the browser's own box looks different under the mouse, which a reused page has and a fresh one has not. */
  input { flex: none; appearance: none; width: 16px; height: 16px; margin: 0; border: 1px solid #6b7790; border-radius: 4px; background: #fff; }
  input:checked { border-color: #2456d6; background: #2456d6 url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='m3.5 8.5 3 3 6-7' fill='none' stroke='white' stroke-width='2.2'/%3E%3C/svg%3E") center / 14px no-repeat; }
  input:disabled { opacity: .55; }
  label:has(input:checked) { background: #dde7ff; }
  button { grid-column: 1 / -1; height: 28px; margin-top: 4px; border: 0; border-radius: 6px; background: #2456d6; color: #fff; font: inherit; font-weight: 600; }
  fieldset:disabled button { background: #7b879d; }
</style>
</head>
<body>
<main></main>
<template>
  <h1>Checkboxes</h1>
  <p aria-hidden="true"></p>
  <form><fieldset><button>Submit</button></fieldset></form>
</template>
<script>
  'use strict';
  const clickCheckboxes = (() => {
    let boxes = [];
    let frozen = null;
    const checkedNow = () => boxes.map((box) => box.checked);
    return {
      start({ labels, instruction }) {
        document.activeElement?.blur();
        getSelection().removeAllRanges();
        scrollTo(0, 0);
        frozen = null;
        const content = document.querySelector('template').content.cloneNode(true);
        content.querySelector('p').textContent = instruction;
        boxes = labels.map((text) => {
          const label = document.createElement('label');
          const box = label.appendChild(document.createElement('input'));
          box.type = 'checkbox';
          label.appendChild(document.createElement('span')).textContent = text;
          content.querySelector('button').before(label);
          return box;
        });
        content.querySelector('form').addEventListener('submit', (event) => {
          event.preventDefault();
          frozen = checkedNow();
          document.querySelector('fieldset').disabled = true;
        });
        document.querySelector('main').replaceChildren(content);
      },
      state: () => ({ submitted: frozen !== null, checked: frozen ?? checkedNow() }),
    };
  })();
</script>
</body>
</html>
`;
