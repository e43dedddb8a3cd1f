import { expect, test } from 'vitest';
import { locateChromium } from './locate.ts';

const only =
  (...paths: string[]) =>
  (path: string): boolean =>
    paths.includes(path);
const linux = { platform: 'linux' as const, bundledFolder: undefined };
const PATH = '/usr/local/bin:/usr/bin';

test('CHROME_PATH wins over everything that is installed', async () => {
  const isExecutable = only('/opt/mine', '/usr/bin/chromium-headless-shell');
  const found = await locateChromium({ ...linux, env: { PATH, CHROME_PATH: '/opt/mine' }, isExecutable });
  expect(found.path).toBe('/opt/mine');
});

test('a CHROME_PATH that leads nowhere is an error with its value, not a reason to look elsewhere', async () => {
  const isExecutable = only('/usr/bin/chromium');
  const found = locateChromium({ ...linux, env: { PATH, CHROME_PATH: '/no/chrome' }, isExecutable });
  await expect(found).rejects.toMatchObject({
    boundary: 'browser',
    code: 'chrome-path-invalid',
    details: { path: '/no/chrome', reason: 'does not exist' },
  });
});

test('an installed headless shell is preferred to a full Chrome, unless a Chrome is asked for', async () => {
  const options = {
    ...linux,
    env: { PATH },
    isExecutable: only('/usr/bin/chromium-headless-shell', '/usr/bin/google-chrome'),
  };
  expect(await locateChromium(options)).toMatchObject({
    path: '/usr/bin/chromium-headless-shell',
    likely: 'headless-shell',
  });
  expect(await locateChromium({ ...options, prefer: 'chrome' })).toMatchObject({
    path: '/usr/bin/google-chrome',
    likely: 'chrome',
  });
});

test('Chrome is found where macOS and Windows install it', async () => {
  const mac = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
  const darwin = { platform: 'darwin' as const, bundledFolder: undefined };
  expect((await locateChromium({ ...darwin, env: { HOME: '/Users/x' }, isExecutable: only(mac) })).path).toBe(mac);
  const found = await locateChromium({
    platform: 'win32',
    bundledFolder: undefined,
    env: { PROGRAMFILES: 'C:\\Program Files' },
    isExecutable: (path) => path.startsWith('C:\\Program Files') && path.endsWith('chrome.exe'),
  });
  expect(found.path).toContain('Google');
});

test.each([
  ['linux' as const, 'install the package chromium'],
  ['darwin' as const, 'brew install'],
  ['win32' as const, 'google.com/chrome'],
])('without any browser on %s the error says how to get one', async (platform, advice) => {
  const found = locateChromium({ platform, bundledFolder: undefined, env: { PATH }, isExecutable: () => false });
  await expect(found).rejects.toMatchObject({ boundary: 'browser', code: 'chromium-not-found' });
  await expect(found).rejects.toThrow(advice);
});
