// `tabwright doctor`: what this machine has for browsers and for the jail, tried out, and what to do where it lacks
// something.

import { z } from 'zod';
import { locateChromium } from '../../browser/index.ts';
import { launchJailedBrowser } from '../../repl/index.ts';
import { probeSandbox, requireJail, type ProbeCheck, type SandboxProbe } from '../../sandbox/index.ts';
import type { CommandSpec } from '../run-command.ts';

const schema = z.strictObject({});

export const doctor: CommandSpec<typeof schema> = {
  name: 'doctor',
  summary: 'Try out the browser and the jail of model-written code on this machine; say what is missing.',
  examples: ['doctor', 'doctor --json'],
  schema,
  flags: [],
  async action({ signal, print }) {
    const location = await locateChromium({ signal });
    const probe = await probeSandbox({ signal });
    const browser = probe.available ? [await browserCheck(probe, signal)] : [];
    const checks = [...probe.checks, ...browser];
    const lines = [
      `Chromium  ${location.path}`,
      'Jail of model-written code:',
      ...checks.map(({ name, ok, detail }) => `  ${ok ? 'ok  ' : 'FAIL'}  ${name.padEnd(12)}  ${detail}`),
    ];
    const { available, reason = null, remedy = null } = probe;
    print(lines.join('\n'), { chromium: location.path, jail: { available, reason, remedy, checks: [...checks] } });
    requireJail(probe);
  },
};

/** Throws where Chromium does not start in a jail that holds: that is a fault of ours. */
async function browserCheck(probe: SandboxProbe, signal: AbortSignal): Promise<ProbeCheck> {
  const start = performance.now();
  await using browser = await launchJailedBrowser({ probe, signal });
  const layers = probe.nestedSandbox ? 'with its own sandbox inside' : 'without a sandbox of its own inside';
  return {
    name: 'browser',
    ok: true,
    detail: `${browser.product} ${layers}, up in ${Math.round(performance.now() - start)} ms`,
  };
}
