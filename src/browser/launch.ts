// Starts a Chromium and owns it: its process group, its pipe, its temporary profile. What kind of browser it is, is
// asked of the running browser, because neither a file's name nor `--version` tells; a wrong first guess costs one
// more start. Chromium ends when its pipe closes, so it does not survive a killed parent.

import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { TabwrightError } from '../core/index.ts';
import { spawnOwned, withDeadline, type OwnedProcess } from '../util/index.ts';
import { createBrowser, type Browser } from './browser.ts';
import { connectCdp, type CdpResult } from './cdp.ts';
import { endProcess } from './end-process.ts';
import { launchCrashed, launchFailed } from './failures.ts';
import type { FrameMode } from './frames.ts';
import { locateChromium } from './locate.ts';
import type { BrowserKind, ChromiumLocation } from './location.ts';
import { createProfile, reapStaleProfiles, removeProfile } from './profile.ts';

export type LaunchOptions = {
  /** Which executable. Default: `locateChromium()`. */
  readonly location?: ChromiumLocation;
  /** Default: begin-frame where the browser can, else ordinary. Asking for begin-frame of a full Chrome is an error. */
  readonly mode?: FrameMode;
  /** Milliseconds from the start of the process to its first answer; default 30000. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  /** Starts it in a jail. Default: as a child of this process, with this user's files and network. */
  readonly jail?: BrowserJail;
  /** Beside the usual ones, without a jail; a jail brings its own. */
  readonly flags?: readonly string[];
};

/** How to start a Chromium in a jail, which this folder knows nothing else of. */
export type BrowserJail = {
  /** Starts the command; descriptors 3 and 4 must reach it. What it writes on disk must go with it. */
  readonly spawn: (command: ChromiumCommand) => OwnedProcess;
  /** Folder for the profile, as Chromium sees it. */
  readonly profile: string;
  /** Beside the usual ones, e.g. the proxy that is the only way out. */
  readonly flags: readonly string[];
  /** Whether Chromium can make its own sandbox in there. */
  readonly ownSandbox: boolean;
};

export type ChromiumCommand = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdio: readonly ('ignore' | 'pipe')[];
};

export async function launchBrowser(options: LaunchOptions = {}): Promise<Browser> {
  reapStaleProfiles();
  const location =
    options.location ?? (await locateChromium(options.signal === undefined ? {} : { signal: options.signal }));
  const guess = modeFor(location.likely, options.mode);
  const first = await start(location, guess, options);
  if (first.mode !== 'wrong-guess') return first.browser;
  const second = await start(location, first.better, options);
  if (second.mode !== 'wrong-guess') return second.browser;
  throw launchFailed(location.path, 'it calls itself something else at each start', '');
}

type Start =
  | { readonly mode: FrameMode; readonly browser: Browser }
  | { readonly mode: 'wrong-guess'; readonly better: FrameMode };

function modeFor(kind: BrowserKind, wanted: FrameMode | undefined): FrameMode {
  return wanted ?? (kind === 'headless-shell' ? 'begin-frame' : 'ordinary');
}

async function start(location: ChromiumLocation, mode: FrameMode, options: LaunchOptions): Promise<Start> {
  try {
    return await startOnce(location, mode, options);
  } catch (error) {
    if (!(error instanceof TabwrightError && error.code === 'launch-crashed')) throw error;
    options.signal?.throwIfAborted();
    return startOnce(location, mode, options);
  }
}

async function startOnce(location: ChromiumLocation, mode: FrameMode, options: LaunchOptions): Promise<Start> {
  const owned = spawnChromium(location, mode, options);
  const stderr = tail(owned.child.stderr!);
  const cdp = connectCdp(owned.child.stdio[3] as Writable, owned.child.stdio[4] as Readable);
  const ms = options.deadlineMs ?? 30_000;
  try {
    const version = await withDeadline(
      {
        ms,
        onExpiry: () => launchFailed(location.path, `no answer within ${ms} ms`, stderr()),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      },
      () => firstAnswer(),
    );
    // The shell names itself HeadlessChrome; a full Chrome in its new headless mode is plain Chrome.
    const kind: BrowserKind = version.product.startsWith('HeadlessChrome/') ? 'headless-shell' : 'chrome';
    if (mode === 'begin-frame' && kind === 'chrome' && options.mode === 'begin-frame') {
      throw launchFailed(location.path, `${version.product} is not a headless shell and has no begin-frame mode`, '');
    }
    const better = modeFor(kind, options.mode);
    if (better !== mode) {
      cdp.close();
      await endProcess(owned);
      return { mode: 'wrong-guess', better };
    }
    return { mode, browser: createBrowser({ cdp, owned, product: version.product, mode, stderr }) };
  } catch (error) {
    cdp.close();
    // What went wrong at the start is the news; a process that will not end adds nothing to it.
    await endProcess(owned).catch(() => undefined);
    throw error;
  }

  async function firstAnswer(): Promise<CdpResult<'Browser.getVersion'>> {
    try {
      return await cdp.root.send('Browser.getVersion');
    } catch (error) {
      // The pipe closes a moment before the process is known to be gone, and its last words come last.
      const [end] = await Promise.all([owned.ended, streamEnd(owned.child.stderr!)]);
      const how =
        end.error?.message ??
        (end.signal === null ? `it ended with code ${end.code}` : `it was ended by ${end.signal}`);
      const crashed = end.signal === 'SIGSEGV' || end.code === 128 + constants.signals.SIGSEGV;
      if (crashed) throw launchCrashed(location.path, how, stderr());
      throw launchFailed(location.path, how, stderr(), error);
    }
  }
}

function spawnChromium(location: ChromiumLocation, mode: FrameMode, { jail, flags = [] }: LaunchOptions): OwnedProcess {
  const command = (profile: string, added: readonly string[]): ChromiumCommand => ({
    command: location.path,
    args: [...chromiumFlags(mode), ...added, `--user-data-dir=${profile}`, 'about:blank'],
    env: location.env,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
  });
  if (jail !== undefined) return jail.spawn(command(jail.profile, [...jail.flags, ...ownSandbox(jail.ownSandbox)]));
  const profile = createProfile();
  const plain = [
    ...flags,
    ...ownSandbox(process.getuid?.() !== 0), // Chromium refuses to start as root with its sandbox
    '--disable-dev-shm-usage', // containers often have a /dev/shm of 64 MB
  ];
  const { stdio, ...rest } = command(profile, plain);
  return spawnOwned({ ...rest, stdio: [...stdio], cleanup: () => removeProfile(profile) });
}

function ownSandbox(possible: boolean): readonly string[] {
  return possible ? [] : ['--no-sandbox'];
}

/** Flags for a browser that talks to nobody, asks nothing and looks the same everywhere. */
function chromiumFlags(mode: FrameMode): readonly string[] {
  return [
    '--headless',
    '--remote-debugging-pipe',
    '--no-first-run',
    '--no-default-browser-check',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-default-apps',
    '--disable-domain-reliability',
    '--disable-extensions',
    '--disable-sync',
    '--disable-client-side-phishing-detection',
    '--no-pings',
    '--metrics-recording-only',
    '--disable-breakpad',
    '--disable-crash-reporter',
    '--disable-search-engine-choice-screen',
    '--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,AutofillServerCommunication,CertificateTransparencyComponentUpdater',
    '--password-store=basic',
    '--use-mock-keychain',
    '--mute-audio',
    '--disable-gpu',
    '--hide-scrollbars',
    '--force-color-profile=srgb',
    '--font-render-hinting=none',
    '--lang=en-US',
    // Every page is in use, whether or not its window would be in front.
    '--disable-background-timer-throttling',
    '--disable-backgrounding-occluded-windows',
    '--disable-renderer-backgrounding',
    ...(mode === 'begin-frame'
      ? [
          '--enable-begin-frame-control',
          '--run-all-compositor-stages-before-draw',
          '--disable-new-content-rendering-timeout',
          '--in-process-gpu', // drawing is done in software: one process fewer, a fifth less processor time a step
        ]
      : ['--enable-blink-features=WebMCP']), // tools that real sites offer; not on by default in Chromium yet
  ];
}

function streamEnd(stream: Readable): Promise<void> {
  return new Promise((resolve) => (stream.closed ? resolve() : stream.once('close', resolve)));
}

/** Keeps the last 8 kB of a stream. */
function tail(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => (text = (text + chunk).slice(-8192)));
  return () => text;
}
