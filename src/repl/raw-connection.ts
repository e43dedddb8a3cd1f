// One client of a cell's `CDP_ENDPOINT` at the browser: a session of the browser's own, so that what the client attaches
// to, discovers or traces is its alone and ends with it. The policy of raw commands holds for every command of every
// session; other sessions do not exist for it. What it does is written down as what `cdp()` does.

import type { CdpConnection, CdpMessage } from '../browser/index.ts';
import { TabwrightError } from '../core/index.ts';
import { withDeadline } from '../util/index.ts';
import type { ActionLog, RunningAction } from './action-log.ts';
import type { RawClient, RawConnection } from './cell-calls.ts';
import type { CdpCommand, CdpPolicy } from './cdp-policy.ts';
import type { AttachedBrowser } from './methods/attached-browser.ts';
import { cdpTimedOut } from './methods/failures.ts';
import type { Scratch } from './methods/scratch.ts';
import { effectOf, subjectOf } from './raw-command-log.ts';

export type RawConnectionOptions = {
  readonly browser: AttachedBrowser;
  readonly policy: CdpPolicy;
  readonly scratch: Scratch;
  readonly log: ActionLog;
  /** Address of the page that helpers act on. */
  readonly currentUrl: () => string;
  /** The client acts on a page, or on the browser (`undefined`). */
  readonly onAct: (targetId: string | undefined) => void;
  readonly client: RawClient;
};

/** A page's own promises may be waited for as long as a cell may take; milliseconds. */
const COMMAND_DEADLINE_MS = 300_000;
const OPEN_DEADLINE_MS = 10_000;

/** Chromium's answer to a session that there is not; clients take it as its end. */
const NO_SESSION = { code: -32001, message: 'Session with given id not found.' } as const;
const SERVER_ERROR = -32000;
const ATTACH_TO_BROWSER = 'Target.attachToBrowserTarget';

/** What is known of a session's target. */
type Target = { readonly targetId: string; readonly type: string; url: string };

export function connectRaw(options: RawConnectionOptions): RawConnection {
  const { browser, policy, scratch, log, client } = options;
  const closing = new AbortController();
  /** The sessions of this connection, but for the browser's. */
  const sessions = new Map<string, Target>();
  let opened: { readonly connection: CdpConnection; readonly own: string } | undefined;
  let offEvents = (): void => undefined;

  const close = (): void => {
    if (closing.signal.aborted) return;
    closing.abort(new Error('the client has closed its connection'));
    offEvents();
    if (opened === undefined) return;
    const { connection, own } = opened;
    const mine = [own, ...sessions.keys()];
    // All sessions under it end with it. A browser that is gone has none left.
    const forget = (): void => browser.forgetPrivate(mine);
    connection.root.send('Target.detachFromTarget', { sessionId: own }).then(forget, forget);
  };
  const end = (reason: string): void => {
    if (closing.signal.aborted) return;
    close();
    client.ended(reason);
  };

  const onEvent = ({ method, params, sessionId }: CdpMessage): void => {
    if (opened === undefined || sessionId === undefined) return;
    const target = sessions.get(sessionId);
    if (target === undefined && sessionId !== opened.own) return;
    if (method === 'Target.attachedToTarget') {
      const told = params as { readonly sessionId: string; readonly targetInfo: Target };
      const { targetId, type, url } = told.targetInfo;
      sessions.set(told.sessionId, { targetId, type, url });
    } else if (method === 'Target.detachedFromTarget') {
      sessions.delete((params as { readonly sessionId: string }).sessionId);
    } else if (target !== undefined) {
      follow(target, { method, params }, log);
    }
    const message = { method, params, ...(target === undefined ? {} : { sessionId }) };
    // Answers are promises that settle a turn of the microtasks later; clients rely on the order of both.
    queueMicrotask(() => {
      if (!closing.signal.aborted) client.send(message);
    });
  };

  const openOwn = async (signal: AbortSignal): Promise<{ connection: CdpConnection; own: string }> => {
    const connection = await browser.connection(signal);
    return { connection, own: await browser.attachBrowserPrivately(connection) };
  };
  const opening = withDeadline(
    {
      ms: OPEN_DEADLINE_MS,
      signal: closing.signal,
      onExpiry: () => cdpTimedOut(ATTACH_TO_BROWSER, OPEN_DEADLINE_MS, false),
    },
    openOwn,
  ).then(
    (made) => {
      opened = made;
      offEvents = browser.onEvent(onEvent);
    },
    (error: unknown) => end(`the browser is not reached: ${(error as Error).message}`),
  );

  const urlOf = (target: Target | undefined): string => target?.url ?? options.currentUrl();

  const run: RawConnection['command'] = ({ id, method, params, sessionId }, { cell }) => {
    if (opened === undefined || closing.signal.aborted) return;
    const { connection, own } = opened;
    const answer = (outcome: { readonly result: unknown } | { readonly error: object }): void => {
      if (!closing.signal.aborted) client.send({ id, ...outcome, ...(sessionId === undefined ? {} : { sessionId }) });
    };
    const target = sessionId === undefined ? undefined : sessions.get(sessionId);
    if (sessionId !== undefined && target === undefined) {
      answer({ error: NO_SESSION });
      return;
    }
    const effect = effectOf(method);
    const action: RunningAction = log.begin({ cell, helper: 'CDP_ENDPOINT', effect, url: urlOf(target) });
    let command: CdpCommand;
    try {
      // A session made by it is this connection's, and judged as the others are.
      command = method === ATTACH_TO_BROWSER ? { method, params: {} } : policy.check({ method, params });
    } catch (error) {
      action.end('failed', urlOf(target));
      answer({ error: { code: SERVER_ERROR, message: (error as Error).message } });
      return;
    }
    action.about(subjectOf(command));
    if (effect === 'acts') options.onAct(target?.targetId);

    let settled = false;
    const settle = (result: 'done' | 'failed'): boolean => {
      if (settled) return false;
      settled = true;
      clearTimeout(timer);
      action.end(result, urlOf(target));
      return true;
    };
    const timer = setTimeout(() => {
      const { message } = cdpTimedOut(method, COMMAND_DEADLINE_MS, target !== undefined);
      if (settle('failed')) answer({ error: { code: SERVER_ERROR, message } });
    }, COMMAND_DEADLINE_MS);
    const request = (): void =>
      // No more turns than events take: see there.
      void connection.request(command.method, command.params, sessionId ?? own).then(
        (result) => {
          if (settle('done')) answer({ result });
        },
        (error: unknown) => {
          if (!settle('failed')) return;
          const failure = error instanceof TabwrightError ? error : undefined;
          if (failure?.code === 'protocol-error') {
            const { protocolCode: code, protocolMessage: message } = failure.details;
            answer({ error: { code, message } });
          } else if (failure?.code === 'page-closed') answer({ error: NO_SESSION });
          else end((error as Error).message); // the browser is gone, or the session's connection to it
        },
      );
    const { downloadPath } = command.params;
    if (typeof downloadPath !== 'string') request();
    // Clients make a folder that is open to their own user only. Where there is none the browser makes it.
    else scratch.share(method, downloadPath).then(request, request);
  };

  return {
    command(command, context) {
      if (opened !== undefined) run(command, context);
      else void opening.then(() => run(command, context));
    },
    close,
  };
}

/** Where the page of a session is. */
function follow(target: Target, { method, params }: Pick<CdpMessage, 'method' | 'params'>, log: ActionLog): void {
  const told = params as {
    readonly url?: string;
    readonly frameId?: string;
    readonly frame?: { readonly url: string; readonly parentId?: string; readonly urlFragment?: string };
  };
  if (method === 'Page.frameNavigated' && told.frame!.parentId === undefined) {
    target.url = told.frame!.url + (told.frame!.urlFragment ?? '');
  } else if (method === 'Page.navigatedWithinDocument' && told.frameId === target.targetId) target.url = told.url!;
  else return;
  if (target.type === 'page') log.navigated(target.url);
}
