// What oracles are written in: a few words over the methods of the Browser REPL, put before each oracle's code. They act
// as a person does, with the mouse and the keyboard; only lists of choices, date fields and files are set by script, which
// works in every profile of cells.

export const ORACLE_WORDS = `
const until = async (what, look, seconds = 100) => { // a cell ends before that, unless it is given long
  const end = Date.now() + seconds * 1000;
  for (;;) {
    try { const seen = await look(); if (seen) return seen; } catch (error) { if (Date.now() > end) throw error; }
    if (Date.now() > end) throw new Error('it never came to this: ' + what);
    await waitMs(30);
  }
};
const press = (role, name) => until('a click on the ' + role + ' ' + name, async () => {
  const { nodes } = await accessibilitySnapshot();
  const node = nodes.find((one) => one.role === role && one.name === name);
  if (node !== undefined) await click(node, { timeoutSec: 3 }); // one that a script has replaced meanwhile is looked for again
  return node !== undefined;
});
const leave = async (act) => {
  await js('void (window.leaving = true)');
  await act();
  await until('a new page', async () => await js("window.leaving === undefined && document.readyState === 'complete'"));
};
const open = (name) => leave(() => press('link', name));
const submit = (name) => leave(() => press('button', name));
const fill = (name, text) => fillInput('[name="' + name + '"]', text);
const set = (name, value) => js(([name, value]) => {
  const field = document.querySelector('[name="' + name + '"]');
  field.value = field.options ? [...field.options].find((option) => option.label === value).value : value;
  for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, { bubbles: true }));
}, { arg: [name, value] });
const save = async (link) => {
  // Into the session's own folder, wherever that is: without one some browsers do not ask for the file at all.
  const folder = (await captureScreenshot('before.png')).replace(/[^/]*$/, 'downloads');
  await cdp('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder });
  await press('link', link);
};
const attach = (name, file, text) => js(([name, file, text]) => {
  const files = new DataTransfer();
  files.items.add(new File([text], file, { type: 'text/plain' }));
  document.querySelector('[name="' + name + '"]').files = files.files;
}, { arg: [name, file, text] });
const read = (selector) => js((selector) => document.querySelector(selector)?.textContent.trim(), { arg: selector });
const rows = () => js(() => [...document.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText.trim())));
const answerDialog = async (accept, promptText) => {
  await until('a dialog', async () => (await pageInfo()).dialog);
  await cdp('Page.handleJavaScriptDialog', { accept, ...(promptText === undefined ? {} : { promptText }) });
};
`;

/** As a value in the code of a cell. */
export function quoted(value: string | number | boolean | readonly string[]): string {
  return JSON.stringify(value);
}

export function oracleCell(code: string): string {
  return `{${ORACLE_WORDS}${code}\n}`;
}
