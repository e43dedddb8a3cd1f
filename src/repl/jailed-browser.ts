// A Chromium in a jail: what it may read of this machine (itself, fonts, libraries), what it may use, and where it
// may go. It fails closed: without a jail that was tried out there is no browser.

import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import {
  launchBrowser,
  locateChromium,
  type Browser,
  type BrowserJail,
  type ChromiumLocation,
  type FrameMode,
} from '../browser/index.ts';
import {
  JAIL_PROXY,
  requireJail,
  spawnJailed,
  type Bind,
  type EgressProxy,
  type JailLimits,
  type SandboxProbe,
  type ScratchFolder,
} from '../sandbox/index.ts';

export type JailedBrowserOptions = {
  /** What was found out about this machine; the launch is refused where the jail does not hold. */
  readonly probe: SandboxProbe;
  /** The only way out. Default: none, and no page but those without a network loads. */
  readonly egress?: EgressProxy;
  /** Where downloads go and uploads come from. Default: a /tmp of its own. */
  readonly scratch?: ScratchFolder;
  /** Default: `BROWSER_LIMITS`, entry by entry. */
  readonly limits?: Partial<JailLimits>;
  /** Default: `locateChromium()`. */
  readonly location?: ChromiumLocation;
  readonly mode?: FrameMode;
  /** Milliseconds from the start to the first answer; default 30000. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
};

const MIB = 1024 * 1024;

/** A Chromium has about 100 threads and 110 MiB of its own with one small page. */
export const BROWSER_LIMITS: Partial<JailLimits> = {
  memoryBytes: 3072 * MIB,
  processes: 2048,
  fileBytes: 1024 * MIB,
  openFiles: 8192,
  tmpfsBytes: 512 * MIB,
};

const FLAGS = [
  // Loopback is the jail's own and holds the forwarder alone: what pages call loopback is the host's, and judged.
  ...[`--proxy-server=${JAIL_PROXY}`, '--proxy-bypass-list=<-loopback>'],
  // Names are looked up by the proxy; here there is nobody to ask.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--disk-cache-size=67108864',
];

export async function launchJailedBrowser(options: JailedBrowserOptions): Promise<Browser> {
  requireJail(options.probe);
  const { signal, deadlineMs, mode } = options;
  const location = options.location ?? (await locateChromium(signal === undefined ? {} : { signal }));
  return launchBrowser({
    location,
    jail: browserJail(options, location),
    ...(mode === undefined ? {} : { mode }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(signal === undefined ? {} : { signal }),
  });
}

function browserJail(
  { probe, egress, scratch, limits }: JailedBrowserOptions,
  location: ChromiumLocation,
): BrowserJail {
  return {
    spawn: ({ command, args, env, stdio }) =>
      spawnJailed({
        command,
        args,
        env: { ...env, TMPDIR: HOME },
        stdio,
        readOnly: readableBy(location),
        limits: { ...BROWSER_LIMITS, ...limits },
        nestedSandbox: probe.nestedSandbox,
        ...(egress === undefined ? {} : { egress }),
        ...(scratch === undefined ? {} : { scratch }),
      }),
    profile: `${HOME}/profile`,
    flags: FLAGS,
    ownSandbox: probe.nestedSandbox,
  };
}

const HOME = '/home/jail';

/** What Chromium needs beside /usr: its own folder, fonts, and the settings that Debian's start script reads. */
function readableBy({ path, env }: ChromiumLocation): readonly Bind[] {
  const own = [path, realpathSync(path)].map(folderOrFile);
  const libraries = (env.LD_LIBRARY_PATH ?? '').split(':').filter((folder) => folder !== '');
  const outside = [...new Set([...own, ...libraries])].filter((from) => !from.startsWith('/usr/'));
  return [...outside, '/etc/fonts', '/etc/chromium.d'].filter((from) => existsSync(from)).map((from) => ({ from }));
}

/** A folder that holds somebody's home is not opened for the sake of an executable in it. */
function folderOrFile(path: string): string {
  const folder = dirname(path);
  return `${homedir()}/`.startsWith(folder === '/' ? folder : `${folder}/`) ? path : folder;
}
