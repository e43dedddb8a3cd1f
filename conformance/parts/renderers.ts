// Chat formats: real tokenizers and templates are fetched and checked, the goldens made anew from them must be those that are
// committed, our ids must be theirs in every family, and what the peers make of the same conversations must be what
// peers.json says.

import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { mustRun } from '../command.ts';
import type { Context } from '../context.ts';
import { comparePeers, PEERS_FILE, readPeers, type PeerCounts } from '../renderers/peers.ts';
import { installerEnvironment, type VenvName } from '../venvs.ts';

const PART = 'renderers';
const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(ROOT, 'conformance', 'renderers');
/** Where the tests of src/tokens look. */
const WORK = join(ROOT, '.cache', 'renderers');
const TOKENIZERS = join(ROOT, '.cache', 'tokenizers');
const PEERS: readonly (readonly ['renderers' | 'cookbook', VenvName])[] = [
  ['renderers', 'renderers-0.1.12'],
  ['cookbook', 'cookbook-0.5.8'],
];

export async function renderersPart(context: Context): Promise<void> {
  const { report, logs } = context;
  const { python } = await context.venv('renderers-0.1.12');
  const places = ['--work', WORK, '--tokenizers', TOKENIZERS];
  const common = { env: installerEnvironment(), deadlineMs: 1_800_000, log: join(logs, 'renderers.log') } as const;
  const script = (name: string, args: readonly string[], command = python): ReturnType<typeof mustRun> =>
    mustRun({ ...common, what: name, command, args: [join(FOLDER, name), ...args] });

  const fetched = await report.check(PART, 'sources.py fetches templates and builds tokenizers', async () => {
    await script('sources.py', places);
    return (await readdir(TOKENIZERS)).sort().join(', ');
  });
  if (!fetched) return;

  await report.check(PART, 'make-goldens.py makes what is committed, byte for byte', async () => {
    const out = join(context.work, 'goldens');
    await script('make-goldens.py', [...places, '--out', out]);
    const made = (await readdir(out, { recursive: true })).filter((name) => /\.(gz|json)$/.test(name)).sort();
    const there = (await readdir(join(FOLDER, 'goldens'))).map((name) => `goldens/${name}`);
    const wanted = [...there, 'conversations.json.gz', 'models.json'].sort();
    if (made.join() !== wanted.join()) throw new Error(`other files: ${made.join(', ')}`);
    const differing: string[] = [];
    for (const name of made) {
      const [own, there] = await Promise.all([readFile(join(out, name)), readFile(join(FOLDER, name))]);
      // JSON lies here as prettier writes it.
      const content = (data: Buffer): string =>
        name.endsWith('.json') ? JSON.stringify(JSON.parse(data.toString())) : data.toString('latin1');
      if (content(own) !== content(there)) differing.push(name);
    }
    await rm(out, { recursive: true, force: true });
    if (differing.length > 0) throw new Error(`different: ${differing.join(', ')}`);
    return `${made.length} files`;
  });

  await report.check(PART, 'ids of every family are those of the goldens', async () => {
    const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
    const end = await mustRun({
      ...common,
      what: 'vitest',
      command: process.execPath,
      args: [vitest, 'run', 'src/tokens/goldens.test.ts', 'src/tokens/template-format.test.ts'],
      cwd: ROOT,
    });
    const last = end.tail.trim().split('\n').at(-1) ?? '';
    if (/skipped/.test(end.tail)) throw new Error(`a family was left out: ${end.tail}`);
    return last;
  });

  const committed = await readPeers();
  for (const [peer, venv] of PEERS) {
    await report.check(PART, `${peer} makes of our conversations what ${PEERS_FILE} says`, async () => {
      const out = join(context.work, `${peer}.json`);
      const { python: own } = await context.venv(venv);
      const ranks = join(WORK, 'tml_renderers', 'tml_renderers', 'data');
      await mustRun({
        ...common,
        env: { ...common.env, TIKTOKEN_ENCODINGS_BASE: ranks },
        what: `peers.py ${peer}`,
        command: own,
        args: [join(FOLDER, 'peers.py'), peer, '--tokenizers', TOKENIZERS, '--json', out],
      });
      const found = JSON.parse(await readFile(out, 'utf8')) as PeerCounts;
      const differing = comparePeers(found, committed[peer]);
      if (differing.length > 0) throw new Error(differing.join('; '));
      return `${Object.keys(found).length} formats`;
    });
  }
}
