import { expect, test } from 'vitest';
import { systemEnvironment } from './system-environment.ts';

test('keys, tokens, proxies and options of Node stay out', () => {
  const secrets = {
    OPENAI_API_KEY: 'k',
    TINKER_API_KEY: 'k',
    AWS_SECRET_ACCESS_KEY: 'k',
    NPM_TOKEN: 'k',
    HTTPS_PROXY: 'http://user:password@proxy',
    NODE_OPTIONS: '--require x',
    LCD: 'no LC_ variable',
    MY_PATH: 'no PATH',
  };
  expect(systemEnvironment(secrets)).toEqual({});
});

test('what finds programs, folders, fonts, language and display goes through', () => {
  const linux = {
    PATH: '/usr/bin',
    LD_LIBRARY_PATH: '/opt/lib',
    HOME: '/home/ada',
    TMPDIR: '/var/tmp',
    LANG: 'C.UTF-8',
    LC_ALL: 'C',
    XDG_CACHE_HOME: '/cache',
    FONTCONFIG_FILE: '/fonts.conf',
    DISPLAY: ':0',
    TZ: 'UTC',
  };
  expect(systemEnvironment({ ...linux, KEY: 'k' })).toEqual(linux);
});

test('Windows may write the names as it likes, and they keep that', () => {
  const windows = { Path: 'C:\\bin', SystemRoot: 'C:\\Windows', LOCALAPPDATA: 'C:\\a', 'ProgramFiles(x86)': 'C:\\p' };
  expect(systemEnvironment({ ...windows, Key: 'k' })).toEqual(windows);
});
