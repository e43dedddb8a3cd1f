// Python environments of the conformance run, made from PyPI by the lines below and kept in the cache folder. An
// environment counts as made only when its stamp (the text of its recipe and lock) is there; else it is made anew.
// Sources of the lines: the peers' own requirements, corrected by trial (see docs/results/conformance.md).

import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mustRun, runCommand } from './command.ts';

export type VenvName =
  'sdk-0.38.0' | 'sdk-0.25.0' | 'sdk-0.24.1' | 'cookbook-0.5.8' | 'renderers-0.1.12' | 'skyrl-0.4.0' | 'miniwob-peers';

type Recipe = {
  /** The arguments of `pip install`, one call each. Only what is named is pinned here; the rest is in `locks/`. */
  readonly installs: readonly (readonly string[])[];
  /** Files to put into site-packages. */
  readonly files?: Readonly<Record<string, string>>;
  /** Must be importable in the end, else the environment is not kept. */
  readonly imports: readonly string[];
  readonly deadlineMinutes: number;
};

/** Before everything that depends on torch: alone it may be had as a CPU build, as a dependency it drags CUDA in. */
const TORCH = ['torch==2.13.0'];

/** SkyRL 0.4.0 asks for Python 3.12, of which pydantic needs only this. No file of SkyRL is changed. */
const TYPED_DICT_SHIM = 'import typing, typing_extensions\ntyping.TypedDict = typing_extensions.TypedDict\n';

const SKYRL_PARTS = [
  ...['tinker==0.25.0', 'fastapi[standard]', 'sqlmodel', 'sqlalchemy[asyncio]', 'aiosqlite', 'asyncpg'],
  ...['psycopg2-binary', 'jax>=0.8,<1', 'flax>=0.12.2', 'optax', 'datasets>=4', 'transformers>=5.6.1,<=5.16.1'],
  ...['tokenizers>=0.23.1', 'peft==0.18.1', 'hf_transfer', 'cloudpathlib', 'zstandard', 'xxhash', 'psutil'],
  ...['aiohttp', 'uv'],
];

const RECIPES: Readonly<Record<VenvName, Recipe>> = {
  'sdk-0.38.0': {
    installs: [TORCH, ['tinker==0.38.0', 'peft==0.18.1']],
    imports: ['tinker', 'torch', 'peft'],
    deadlineMinutes: 15,
  },
  'sdk-0.25.0': { installs: [['tinker==0.25.0']], imports: ['tinker'], deadlineMinutes: 10 },
  'sdk-0.24.1': { installs: [['tinker==0.24.1']], imports: ['tinker'], deadlineMinutes: 10 },
  'cookbook-0.5.8': {
    installs: [TORCH, ['tinker==0.38.0', 'tinker-cookbook[math-rl]==0.5.8']],
    imports: ['tinker_cookbook', 'tinker'],
    deadlineMinutes: 30,
  },
  'renderers-0.1.12': {
    installs: [
      ['transformers==5.24.0', 'tokenizers==0.23.3', 'jinja2==3.1.6', 'openai-harmony==0.0.8', 'gguf==0.19.0'],
      ['renderers==0.1.12', 'httpx'],
    ],
    imports: ['renderers', 'transformers', 'openai_harmony', 'gguf'],
    deadlineMinutes: 15,
  },
  'skyrl-0.4.0': {
    installs: [TORCH, SKYRL_PARTS, ['--no-deps', '--ignore-requires-python', 'skyrl==0.4.0']],
    files: { 'sitecustomize.py': TYPED_DICT_SHIM },
    imports: ['skyrl.tinker.api'],
    deadlineMinutes: 30,
  },
  'miniwob-peers': {
    installs: [['miniwob==1.1.0', 'browsergym-miniwob==0.14.3']],
    imports: ['browsergym.miniwob', 'miniwob', 'selenium'],
    deadlineMinutes: 15,
  },
};

export type Venv = {
  readonly name: VenvName;
  readonly folder: string;
  readonly python: string;
  /** 0 if it was there. */
  readonly installSeconds: number;
};

export type VenvOptions = {
  /** The cache folder of the run. */
  readonly cache: string;
  readonly print: (line: string) => void;
};

/** A Python environment could not be made here: no Python, or no package index. Says nothing about our code. */
export class EnvironmentUnavailable extends Error {
  override readonly name = 'EnvironmentUnavailable';
}

/** The environment, made if it is not there. Throws `EnvironmentUnavailable` with the reason where that fails. */
export async function ensureVenv(name: VenvName, options: VenvOptions): Promise<Venv> {
  try {
    return await makeVenv(name, options);
  } catch (error) {
    throw new EnvironmentUnavailable(`the Python environment ${name} could not be made`, { cause: error });
  }
}

async function makeVenv(name: VenvName, options: VenvOptions): Promise<Venv> {
  const recipe = RECIPES[name];
  const folder = join(options.cache, 'venvs', name);
  const python = join(folder, 'bin', 'python');
  const lock = join(import.meta.dirname, 'locks', `${name}.txt`);
  const stamp = createHash('sha256')
    .update(JSON.stringify(recipe))
    .update(await readFile(lock))
    .digest('hex');
  const stampFile = join(folder, 'tabwright-stamp');
  if ((await readFile(stampFile, 'utf8').catch(() => '')) === stamp) {
    return { name, folder, python, installSeconds: 0 };
  }
  options.print(`making the Python environment ${name}`);
  const started = performance.now();
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(options.cache, 'logs'), { recursive: true });
  const log = join(options.cache, 'logs', `install-${name}.log`);
  const common = { env: installerEnvironment(), deadlineMs: recipe.deadlineMinutes * 60_000, log } as const;
  const base = await findPython(log);
  await mustRun({ ...common, what: `making ${name}`, command: base, args: ['-m', 'venv', folder] });
  for (const install of recipe.installs) {
    const args = [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--no-input',
      '--disable-pip-version-check',
      '-c',
      lock,
      ...install,
    ];
    await mustRun({ ...common, what: `pip install of ${name}`, command: python, args });
  }
  for (const [file, text] of Object.entries(recipe.files ?? {})) {
    await writeFile(join(await sitePackages(python, log), file), text);
  }
  await mustRun({
    ...common,
    what: `importing ${name}`,
    command: python,
    args: ['-c', `import ${recipe.imports.join()}`],
  });
  await writeFile(stampFile, stamp);
  return { name, folder, python, installSeconds: (performance.now() - started) / 1000 };
}

/** A folder that holds one package of PyPI without what it depends on, to be put before a made environment. */
export async function ensureOverlay(requirement: string, venv: Venv, options: VenvOptions): Promise<string> {
  const folder = join(options.cache, 'overlays', requirement.replace('==', '-'));
  const stampFile = join(folder, 'tabwright-stamp');
  if ((await readFile(stampFile, 'utf8').catch(() => '')) === requirement) return folder;
  await rm(folder, { recursive: true, force: true });
  await mustRun({
    what: `pip install of ${requirement}`,
    command: venv.python,
    args: [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--no-input',
      '--no-deps',
      '--ignore-requires-python',
      '--target',
      folder,
      requirement,
    ],
    env: installerEnvironment(),
    deadlineMs: 300_000,
    log: join(options.cache, 'logs', 'install-overlays.log'),
  });
  await writeFile(stampFile, requirement);
  return folder;
}

/** What pip and npm need of this process's environment beyond the system's part: their own settings, and a proxy's. */
export function installerEnvironment(): Record<string, string> {
  const wanted = /^(PIP_|npm_config_|SSL_CERT|REQUESTS_CA|NODE_EXTRA_CA|https?_proxy$|no_proxy$)/i;
  return Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => wanted.test(entry[0]) && entry[1] !== undefined,
    ),
  );
}

/** Python 3.11, for which the pins were chosen. `TABWRIGHT_PYTHON` names another one. */
export async function findPython(log: string): Promise<string> {
  const named = process.env['TABWRIGHT_PYTHON'];
  const tried = named === undefined ? ['python3.11', 'python3'] : [named];
  for (const command of tried) {
    const check = `import sys, venv; sys.exit(0 if ${named === undefined ? 'sys.version_info[:2] == (3, 11)' : 'True'} else 1)`;
    try {
      const end = await runCommand({
        what: 'looking for Python',
        command,
        args: ['-c', check],
        deadlineMs: 60_000,
        log,
      });
      if (end.code === 0) return command;
    } catch {
      // Not installed: the next name.
    }
  }
  throw new Error(
    `No Python 3.11 with venv found (tried ${tried.join(', ')}): install one or name one in TABWRIGHT_PYTHON`,
  );
}

async function sitePackages(python: string, log: string): Promise<string> {
  let folder = '';
  const args = ['-c', 'import sysconfig; print(sysconfig.get_paths()["purelib"])'];
  const onLine = (line: string): void => {
    folder = line;
  };
  await mustRun({ what: 'asking for site-packages', command: python, args, deadlineMs: 60_000, log, onLine });
  return folder;
}
