// What comes before an episode of somebody's task: whoever runs the sites brings them back to their first state, the
// browser is signed in, pages that set a site up are opened, and requests are written down where checks ask for them.
// What of it fails is no failure of the model's: the episode does not begin.

import { TabwrightError } from '../../../core/index.ts';
import type { CdpConnection } from '../../../browser/index.ts';
import type { SessionLease } from '../../../repl/index.ts';
import type { BeginOptions, BegunEpisode, EpisodeEnd } from '../../web-task/index.ts';
import type { NetworkEvent } from '../grade/index.ts';
import type { LoadedTask } from '../loaded-task.ts';
import { freezeAt } from '../pages/index.ts';
import { recordNetwork, type NetworkRecorder } from './network-recorder.ts';
import { networkEventsOf } from './recorded-events.ts';
import { applyStorageState, type StorageState } from './storage-state.ts';

export type TaskFileBeginOptions = {
  readonly tasks: readonly LoadedTask[];
  /** Signed-in states by a site as tasks name it, in small letters; `*` is of every task. Default none. */
  readonly states?: ReadonlyMap<string, StorageState>;
  /** Called first: brings the sites back. */
  readonly reset?: (task: LoadedTask, options: { readonly signal: AbortSignal }) => Promise<void>;
};

export type TaskFileBegin = {
  readonly begin: (id: string, options: BeginOptions) => Promise<BegunEpisode>;
  /** For `taskFileVerifier`: undefined where the task asks for no requests, or they could not be written down. */
  readonly network: (
    end: EpisodeEnd,
    options: { readonly signal: AbortSignal },
  ) => Promise<readonly NetworkEvent[] | 'too-many' | undefined>;
};

/** Milliseconds for a connection of the host's own. */
const CONNECT_MS = 15_000;

export function taskFileBegin({ tasks, states = new Map(), reset }: TaskFileBeginOptions): TaskFileBegin {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const recorders = new WeakMap<SessionLease, NetworkRecorder>();
  return {
    async begin(id, { session, signal }) {
      const task = byId.get(id);
      if (task === undefined) {
        throw new TabwrightError('config', `The task ${id} is none of the file.`, { code: 'unknown-task' });
      }
      await reset?.(task, { signal });
      const own = [...new Set(['*', ...task.sites.map((site) => site.toLowerCase())])];
      const signedIn = own.flatMap((site) => states.get(site) ?? []);
      const { setupUrls } = task.needs;
      if (signedIn.length + setupUrls.length > 0) {
        const connection = await connect(session, task, signal);
        try {
          for (const state of signedIn) await applyStorageState(connection, state, { signal });
          for (const url of setupUrls) await freezeAt(asTab(connection), url, { signal });
        } finally {
          connection.close();
        }
      }
      let recorder: NetworkRecorder | undefined;
      const asksForRequests = task.checks.some(({ kind }) => kind === 'network');
      // Where nobody keeps cells from writing requests and answers anew, a record would be no evidence.
      if (asksForRequests && session.connection !== undefined && session.refuseRewrites !== undefined) {
        session.refuseRewrites();
        recorder = await recordNetwork({ connection: await connect(session, task, signal), signal });
        recorders.set(session, recorder);
      }
      return {
        startUrl: task.startUrls[0],
        [Symbol.asyncDispose]: async () => recorder?.stop(),
      };
    },
    async network({ session }, { signal }) {
      const recorder = recorders.get(session);
      if (recorder === undefined) return undefined;
      const requests = await recorder.requests({ signal });
      return recorder.overflow ? 'too-many' : networkEventsOf(requests);
    },
  };
}

async function connect(session: SessionLease, { id }: LoadedTask, signal: AbortSignal): Promise<CdpConnection> {
  if (session.connection !== undefined) return session.connection({ signal, deadlineMs: CONNECT_MS });
  throw new TabwrightError(
    'config',
    `The task ${id} needs a browser that can be prepared, and the protocol of this one is not to be reached.`,
    { code: 'no-host-view', details: { task: id } },
  );
}

/** For pages of the host's own, which are opened beside whatever there is. */
function asTab(connection: CdpConnection): Parameters<typeof freezeAt>[0] {
  return {
    connection,
    targetId: '',
    browserContextId: undefined,
    url: '',
    attach: async (targetId) =>
      (await connection.root.send('Target.attachToTarget', { targetId, flatten: true })).sessionId,
  };
}
