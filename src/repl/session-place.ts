// Where a session's programs run: in jails that share a scratch folder and have one way out, or, for whoever accepts
// that, as plain children of this process. It fails closed: without a jail that was tried out there is no jailed place.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchBrowser, locateChromium, type Browser, type ChromiumLocation } from '../browser/index.ts';
import {
  createEgressProxy,
  createScratchFolder,
  ownMemory,
  processTree,
  requireJail,
  type EgressEvent,
  type EgressProxy,
  type EgressRule,
  type SandboxProbe,
} from '../sandbox/index.ts';
import type { HostCallsOptions } from './host-calls.ts';
import { launchJailedBrowser } from './jailed-browser.ts';
import { installedPackages, jailedCell } from './jailed-cell.ts';
import { createHttpGet } from './methods/http-client.ts';
import type { SessionCell } from './session.ts';

export type PlaceOptions = {
  /** What was found out about this machine; `unsafe-local` runs model-written code with this user's rights. */
  readonly jail: SandboxProbe | 'unsafe-local';
  /**
   * Where a jailed session may go. Default: every public host, ports 80 and 443. Without a jail nothing is held back, and
   * rules with an address say only where pages find these names; `httpGet` of a cell knows nothing of them.
   */
  readonly egress?: readonly EgressRule[];
  readonly onEgress?: (event: EgressEvent) => void;
  /** Default: an installed Chrome or Chromium, which real websites expect, else whatever there is. */
  readonly location?: ChromiumLocation;
  /** What cells find. Default as `CellChildOptions` has it. */
  readonly cell?: Pick<SessionCell, 'profile' | 'relaxedRedeclaration' | 'heapMb'>;
  /** Installed packages that jailed cells may import. In the profile `kernel` playwright-core is one where it is installed. */
  readonly packages?: readonly string[];
};

export interface SessionPlace extends AsyncDisposable {
  readonly scratch: HostCallsOptions['scratch'];
  readonly httpGet: NonNullable<HostCallsOptions['httpGet']>;
  readonly cell: SessionCell;
  /** Process of the cell runtime that was started last; undefined where it is not known. */
  readonly cellPid: number | undefined;
  launch(signal: AbortSignal): Promise<Browser>;
}

const PUBLIC: readonly EgressRule[] = [{ host: '*' }];
/** Clients of `CDP_ENDPOINT` that Kernel has installed. */
const CLIENTS = ['playwright-core'];

export function openPlace(options: PlaceOptions): Promise<SessionPlace> {
  return options.jail === 'unsafe-local' ? openPlainPlace(options) : openJailedPlace(options, options.jail);
}

async function openJailedPlace(options: PlaceOptions, probe: SandboxProbe): Promise<SessionPlace> {
  requireJail(probe);
  const { egress: rules = PUBLIC, onEgress } = options;
  const clients = options.cell?.profile === 'train' ? [] : installedPackages(CLIENTS);
  const packages = [...new Set([...clients, ...(options.packages ?? [])])];
  const scratch = createScratchFolder();
  let egress: EgressProxy | undefined;
  const close = async (): Promise<void> => {
    await egress?.[Symbol.asyncDispose]();
    scratch[Symbol.dispose]();
  };
  try {
    const { spawn, importFrom } = jailedCell({ probe, scratch, packages });
    egress = await createEgressProxy({ rules, ...(onEgress === undefined ? {} : { onRequest: onEgress }) });
    const wayOut = egress;
    let cellPid: number | undefined;
    return {
      scratch: { inside: '/tmp', host: scratch.folder },
      httpGet: createHttpGet({ proxySocket: wayOut.socket }),
      cell: {
        ...options.cell,
        importFrom,
        spawn(command) {
          const owned = spawn(command);
          cellPid = owned.child.pid;
          return owned;
        },
      },
      get cellPid() {
        return cellPid;
      },
      launch: async (signal) => {
        const location = await locate(options, signal);
        return launchJailedBrowser({ probe, egress: wayOut, scratch, location, mode: 'ordinary', signal });
      },
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openPlainPlace(options: PlaceOptions): Promise<SessionPlace> {
  const folder = await mkdtemp(join(tmpdir(), 'tabwright-unsafe-'));
  return {
    scratch: { inside: folder, host: folder },
    httpGet: createHttpGet(),
    // As in a jail, files that programs keep for the time being lie where the browser may have them.
    cell: { ...options.cell, env: { TMPDIR: folder } },
    cellPid: undefined,
    launch: async (signal) => {
      const flags = pinnedNames(options.egress ?? []);
      return launchBrowser({ location: await locate(options, signal), mode: 'ordinary', flags, signal });
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** For a Chromium that no proxy stands before. */
export function pinnedNames(rules: readonly EgressRule[]): readonly string[] {
  const maps = rules.flatMap(({ host, address, toPort }) =>
    address === undefined ? [] : [`MAP ${host} ${address}${toPort === undefined ? '' : `:${toPort}`}`],
  );
  return maps.length === 0 ? [] : [`--host-resolver-rules=${maps.join(',')}`];
}

async function locate({ location }: PlaceOptions, signal: AbortSignal): Promise<ChromiumLocation> {
  return location ?? locateChromium({ prefer: 'chrome', signal });
}

/** Bytes that the processes and all their descendants hold; undefined when none is known. Those not known are left out. */
export function memoryOf(pids: readonly (number | undefined)[]): number | undefined {
  const known = pids.filter((pid) => pid !== undefined);
  return known.length === 0 ? undefined : ownMemory(known.flatMap(processTree));
}
