// Signs of life of a session, so that the server keeps its models: on a timer of their own, never in the way of other
// requests and never retried. Silence of the server is reported; 410 ends them, which is reported too.

import type { Caller } from './caller.ts';

export type HeartbeatOptions = { readonly caller: Caller; readonly sessionId: string };

/** Starts them; the result ends them. */
export function startHeartbeats({ caller, sessionId }: HeartbeatOptions): () => void {
  const { heartbeatMs, silenceMs } = caller.pacing;
  const closed = new AbortController();
  let heard = performance.now();
  let reported = false;
  let busy = false;

  const beat = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    try {
      const reply = await caller.transport.send({
        method: 'POST',
        path: 'session_heartbeat',
        body: { session_id: sessionId, type: 'session_heartbeat' },
        timeoutMs: heartbeatMs,
        signal: closed.signal,
      });
      if (reply.status === 410) {
        stop();
        caller.notice('The Tinker server has ended the session; connect again and go on from the last saved state.');
      } else if (reply.status < 300) {
        heard = performance.now();
        reported = false;
      }
    } catch {
      // The next one tries again; what matters is how long none has come through.
    } finally {
      busy = false;
    }
    const silentMs = performance.now() - heard;
    if (silentMs <= silenceMs || reported || closed.signal.aborted) return;
    reported = true;
    caller.notice(`The Tinker server has not answered a sign of life for ${Math.round(silentMs / 1000)} s.`);
  };

  const timer = setInterval(() => void beat(), heartbeatMs);
  timer.unref();
  const stop = (): void => {
    clearInterval(timer);
    closed.abort();
  };
  return stop;
}
