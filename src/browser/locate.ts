// Which Chromium to use: CHROME_PATH, else an installed headless shell, else (Linux x64) the one that comes with an
// npm package, else an installed Chrome or Chromium. It finds files and starts nothing; what kind of browser a file
// really is, is found out by starting it (launch.ts).

import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromePathInvalid, chromiumNotFound } from './failures.ts';
import type { BrowserKind, ChromiumLocation } from './location.ts';
import { bundledChromiumFolder, unpackBundledChromium } from './bundled.ts';

export type LocateOptions = {
  /** Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
  /** Default `process.platform`. */
  readonly platform?: NodeJS.Platform;
  /** Prefer a browser of this kind where both exist. Default `headless-shell`. CHROME_PATH overrules it. */
  readonly prefer?: BrowserKind;
  /** Whether a file exists and may be executed. Default: ask the file system. */
  readonly isExecutable?: (path: string) => boolean;
  /** Folder of the npm package's browser, or undefined where there is none. Default: look it up. */
  readonly bundledFolder?: string | undefined;
  /** Gives up unpacking. */
  readonly signal?: AbortSignal;
};

/** Finds a Chromium, unpacking the npm one the first time it is needed. Throws `chromium-not-found` where there is none. */
export async function locateChromium(options: LocateOptions = {}): Promise<ChromiumLocation> {
  const env = options.env ?? process.env;
  const platform = options.platform ?? process.platform;
  const isExecutable = options.isExecutable ?? isExecutableFile;

  const chosen = env.CHROME_PATH;
  if (chosen !== undefined && chosen !== '') {
    if (!isExecutable(chosen))
      throw chromePathInvalid(chosen, existsSync(chosen) ? 'cannot be executed' : 'does not exist');
    return { path: chosen, likely: chosen.includes('headless') ? 'headless-shell' : 'chrome', env: {} };
  }

  const installed = (kind: BrowserKind): ChromiumLocation | undefined => {
    const path = installedPaths(kind, platform, env).find(isExecutable);
    return path === undefined ? undefined : { path, likely: kind, env: {} };
  };
  const bundledFolder = 'bundledFolder' in options ? options.bundledFolder : bundledChromiumFolder(platform);
  const shell = async (): Promise<ChromiumLocation | undefined> =>
    installed('headless-shell') ??
    (bundledFolder === undefined ? undefined : await unpackBundledChromium(bundledFolder, options));

  const found =
    options.prefer === 'chrome' ? (installed('chrome') ?? (await shell())) : ((await shell()) ?? installed('chrome'));
  if (found === undefined) {
    const looked = [...installedPaths('headless-shell', platform, env), ...installedPaths('chrome', platform, env)];
    throw chromiumNotFound(platform, looked);
  }
  return found;
}

/** Where installers put their executables, most specific first. */
function installedPaths(kind: BrowserKind, platform: NodeJS.Platform, env: NodeJS.ProcessEnv): readonly string[] {
  if (platform === 'win32') {
    if (kind === 'headless-shell') return onPath(['chrome-headless-shell.exe'], env);
    const roots = [env.PROGRAMFILES, env['PROGRAMFILES(X86)'], env.LOCALAPPDATA].filter((root) => root !== undefined);
    return roots.flatMap((root) => [
      join(root, 'Google', 'Chrome', 'Application', 'chrome.exe'),
      join(root, 'Chromium', 'Application', 'chrome.exe'),
      join(root, 'Microsoft', 'Edge', 'Application', 'msedge.exe'),
    ]);
  }
  if (kind === 'headless-shell') return onPath(['chromium-headless-shell', 'chrome-headless-shell'], env);
  if (platform === 'darwin') {
    const roots = ['/Applications', ...(env.HOME === undefined ? [] : [join(env.HOME, 'Applications')])];
    return roots.flatMap((root) =>
      ['Google Chrome', 'Chromium', 'Google Chrome for Testing', 'Microsoft Edge'].map((name) =>
        join(root, `${name}.app`, 'Contents', 'MacOS', name),
      ),
    );
  }
  return onPath(
    ['google-chrome', 'google-chrome-stable', 'chromium', 'chromium-browser', 'chrome', 'microsoft-edge'],
    env,
  );
}

function onPath(names: readonly string[], env: NodeJS.ProcessEnv): readonly string[] {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => join(folder, name)));
}

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
