// `tabwright plot <runs...>`: the reward or success curves of training runs as one picture, SVG and PNG. The PNG is what
// Chromium makes of the SVG.

import { z } from 'zod';
import { launchBrowser, locateChromium } from '../../browser/index.ts';
import { CHART_SIZE, readTrainingCurve, trainingChart } from '../../experiments/index.ts';
import type { CommandSpec } from '../run-command.ts';
import { writeOutput } from '../write-output.ts';

const schema = z.strictObject({
  metric: z.enum(['reward', 'success']).default('reward').describe('what is drawn'),
  to: z.string().min(1).optional().describe('files to write, without ending (default: <metric>-curve)'),
  png: z.enum(['yes', 'no']).default('yes').describe('make a PNG too, which starts a Chromium'),
});

export const plot: CommandSpec<typeof schema> = {
  name: 'plot',
  summary: 'Draw the reward or success curves of training runs, with intervals, as SVG and PNG.',
  examples: ['plot runs/train', 'plot runs/one runs/two --metric success --to comparison'],
  schema,
  operands: { name: '<runs...>', description: 'run folders of `tabwright train`' },
  flags: [],
  async action({ config: { metric, to = `${metric}-curve`, png }, operands, signal, print }) {
    const curves = await Promise.all(operands.map((dir) => readTrainingCurve(dir, metric)));
    const svg = trainingChart(curves);
    const files = [`${to}.svg`, ...(png === 'yes' ? [`${to}.png`] : [])];
    await writeOutput(files[0], svg);
    if (png === 'yes') await writeOutput(files[1], await rasterise(svg, signal));
    print(`${metric} of ${operands.length} ${operands.length === 1 ? 'run' : 'runs'}: ${files.join(', ')}`, { files });
  },
};

async function rasterise(svg: string, signal: AbortSignal): Promise<Uint8Array> {
  await using browser = await launchBrowser({ location: await locateChromium({ signal }), signal });
  await using page = await browser.newPage({ viewport: CHART_SIZE, signal });
  const html = `<!doctype html><meta charset="utf-8"><style>body{margin:0}svg{display:block}</style>${svg}`;
  await page.navigate(`data:text/html;charset=utf-8;base64,${Buffer.from(html).toString('base64')}`, { signal });
  return await page.screenshot({ signal });
}
