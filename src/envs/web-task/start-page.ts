// Opens the page that a task starts at, by the host and before the model's first turn. A page that cannot be opened is no
// failure of the model's.

import { z } from 'zod';
import { TabwrightError, type Observation } from '../../core/index.ts';
import type { SessionLease } from '../../repl/index.ts';

const OPEN_MS = 60_000;
const LOAD_SECONDS = 30;
/** Of each text of the page's own: the model is to see a line, and the whole has to fit a cell's answer. */
const TEXT_CHARACTERS = 1_000;

/** The page answers for itself, and may say anything: what is no text counts as none. */
const pageText = z
  .string()
  .catch('')
  .transform((text) => (text.length <= TEXT_CHARACTERS ? text : `${text.slice(0, TEXT_CHARACTERS)}…`));

const reportSchema = z.object({
  errorText: z.string().optional().catch(undefined),
  url: pageText,
  title: pageText,
  dialog: z.object({ type: pageText, message: pageText }).nullish().catch(null),
});

/** What the model sees first. */
export async function openStartPage(lease: SessionLease, url: string, signal: AbortSignal): Promise<Observation> {
  const code = `{
    const { errorText } = await gotoUrl(${JSON.stringify(url)});
    if (errorText === undefined) await waitForLoad(${LOAD_SECONDS});
    const { url, title, dialog } = await pageInfo();
    const short = (text) => (typeof text === 'string' ? text.slice(0, ${TEXT_CHARACTERS + 1}) : undefined);
    repl.write(JSON.stringify({
      errorText,
      url: short(url),
      title: short(title),
      dialog: dialog && { type: dialog.type, message: short(dialog.message) },
    }));
  }`;
  const { success, content = [], error = '' } = await lease.execute({ code, timeoutMs: OPEN_MS, signal });
  const [item] = content.filter((one) => one.type === 'text' && one.channel === 'write');
  if (!success || item?.type !== 'text') throw notOpened(url, error);
  const report = reportSchema.parse(JSON.parse(item.text));
  if (report.errorText !== undefined) throw notOpened(url, report.errorText);
  const { dialog } = report;
  return {
    page: JSON.stringify({ url: report.url, title: report.title, ...(dialog ? { dialog } : {}) }),
    notice: 'The browser is open at the page below. Reply without a call to give your final answer.',
  };
}

function notOpened(url: string, reason: string): TabwrightError {
  return new TabwrightError('browser', `The page ${url} that the task starts at cannot be opened: ${reason}`, {
    code: 'start-page-failed',
    details: { url, reason },
    retryable: true,
  });
}
