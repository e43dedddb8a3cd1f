// Opens the page that a task starts at, by the host and before the model's first turn. A page that cannot be opened is no
// failure of the model's.

import { z } from 'zod';
import { TabwrightError, type Observation } from '../../core/index.ts';
import type { SessionLease } from '../../repl/index.ts';

const OPEN_MS = 60_000;
const LOAD_SECONDS = 30;

const reportSchema = z.object({
  errorText: z.string().optional(),
  url: z.string().default(''),
  title: z.string().default(''),
  dialog: z.object({ type: z.string(), message: z.string() }).nullish(),
});

/** What the model sees first. */
export async function openStartPage(lease: SessionLease, url: string, signal: AbortSignal): Promise<Observation> {
  const code = `{
    const { errorText } = await gotoUrl(${JSON.stringify(url)});
    if (errorText === undefined) await waitForLoad(${LOAD_SECONDS});
    repl.write(JSON.stringify({ errorText, ...(await pageInfo()) }));
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
