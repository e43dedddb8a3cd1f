// What a project gets that installs the package: packed as npm packs it, with the runtime dependencies beside it and
// none of the development ones. Its types must hold in a strict project that checks libraries too, and it must run on
// plain Node.

import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
const TIMEOUT = 300_000;

/** The consumer's own development dependencies: what Node's types need. */
const CONSUMER_TYPES = ['node_modules/@types/node', 'node_modules/undici-types'];

const run = promisify(execFile);
const readJson = async (path: string): Promise<unknown> => JSON.parse(await readFile(path, 'utf8'));

let consumer: string;
let installed: string;

beforeAll(async () => {
  consumer = await mkdtemp(join(tmpdir(), 'tabwright-consumer-'));
  installed = join(consumer, 'node_modules', 'tabwright');
  await mkdir(installed, { recursive: true });
  await pack(installed);
  await linkDependencies();
  await writeFile(join(consumer, 'package.json'), JSON.stringify({ type: 'module', private: true }));
}, TIMEOUT);
afterAll(() => rm(consumer, { recursive: true, force: true }));

/** Builds into a folder of its own, so that the checkout's `dist` stays as it is, and unpacks what npm packs. */
async function pack(target: string): Promise<void> {
  const source = join(consumer, 'source');
  await mkdir(source);
  for (const name of ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'assets']) {
    await cp(join(ROOT, name), join(source, name), { recursive: true });
  }
  await run(process.execPath, [TSC, '-p', join(ROOT, 'tsconfig.build.json'), '--outDir', join(source, 'dist')]);
  const { stdout } = await run('npm', ['pack', '--silent', '--offline', '--pack-destination', consumer], {
    cwd: source,
  });
  await run('tar', ['-xzf', join(consumer, stdout.trim()), '--strip-components=1', '-C', target]);
}

async function linkDependencies(): Promise<void> {
  const lock = (await readJson(join(ROOT, 'package-lock.json'))) as { packages: Record<string, { dev?: boolean }> };
  for (const [path, { dev }] of Object.entries(lock.packages)) {
    const topLevel = path.startsWith('node_modules/') && path.lastIndexOf('node_modules/') === 0;
    if (!topLevel || (dev === true && !CONSUMER_TYPES.includes(path))) continue;
    await mkdir(dirname(join(consumer, path)), { recursive: true });
    await symlink(join(ROOT, path), join(consumer, path));
  }
}

/** The folders that can be imported as `tabwright/<folder>`. */
async function subpaths(): Promise<string[]> {
  const entries = await readdir(join(installed, 'dist'), { recursive: true });
  return entries.filter((entry) => /^[a-z]+\/index\.js$/.test(entry)).map(dirname);
}

test('its types hold in a strict project that checks libraries too', { timeout: TIMEOUT }, async () => {
  const imports = (await subpaths()).map((name) => `import * as ${name} from 'tabwright/${name}';\nvoid ${name};`);
  const source = `
    import type { AxNode } from 'tabwright/browser';
    export const text = (node: AxNode): string => node.nodeId;
    // @ts-expect-error a name that cannot be found would make this any, and no error
    export const count = (node: AxNode): number => node.nodeId;
    ${imports.join('\n')}
  `;
  await writeFile(join(consumer, 'main.ts'), source);
  const compilerOptions = {
    strict: true,
    skipLibCheck: false,
    noEmit: true,
    target: 'ES2022',
    lib: ['ES2023', 'ESNext.Disposable'],
    module: 'NodeNext',
    types: ['node'],
  };
  await writeFile(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts'] }));
  const { stdout } = await run(process.execPath, [TSC, '-p', consumer]).catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
});

test('every folder can be imported, and the command runs, on plain Node', { timeout: TIMEOUT }, async () => {
  const names = await subpaths();
  expect(names).toEqual(expect.arrayContaining(['core', 'browser', 'engine', 'train']));
  const script = `await Promise.all(${JSON.stringify(names)}.map((name) => import('tabwright/' + name)))`;
  await run(process.execPath, ['--input-type=module', '-e', script], { cwd: consumer });
  const { version } = (await readJson(join(ROOT, 'package.json'))) as { version: string };
  const { stdout } = await run(process.execPath, [join(installed, 'dist', 'cli', 'main.js'), '--version']);
  expect(stdout.trim()).toBe(version);
});

test('judges find their prompts in the installed package', { timeout: TIMEOUT }, async () => {
  const script = `
    import { createJudgeModel, createRubricJudge, createWebJudge } from 'tabwright/judges';
    const model = createJudgeModel({ endpoint: { model: 'm', baseUrl: '', complete: async () => {} } });
    for (const create of [createWebJudge, createRubricJudge]) process.stdout.write(create({ model }).promptHash.length + ' ');`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: consumer });
  expect(stdout).toBe('64 64 ');
});
