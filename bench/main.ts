// Everything that `npm run bench` measures, printed as a table and, with --json <file>, written for programs.

import { writeFile } from 'node:fs/promises';
import { benchBrowser, describeBrowser } from './browser.ts';
import { benchEngine, describeEngine } from './engine.ts';
import { benchPool, describePool } from './pool.ts';
import { benchRepl, describeRepl } from './repl.ts';

const engine = await benchEngine();
console.log(`Engine\n${describeEngine(engine)}\n`);
const browser = await benchBrowser();
console.log(`Browser\n${describeBrowser(browser)}\n`);
const repl = await benchRepl();
console.log(`Browser REPL\n${describeRepl(repl)}\n`);
const pool = await benchPool();
console.log(`Pool of sessions\n${describePool(pool)}`);
const at = process.argv.indexOf('--json');
if (at >= 0)
  await writeFile(
    process.argv[at + 1],
    `${JSON.stringify({ date: new Date().toISOString(), engine, browser, repl, pool }, null, 2)}\n`,
  );
