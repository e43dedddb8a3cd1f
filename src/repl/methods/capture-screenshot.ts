// A picture of the page, as a PNG file in the scratch folder.

import { z } from 'zod';
import { hostMethod, nonEmpty } from './method.ts';
import { pageSend } from './scope.ts';

export const captureScreenshot = hostMethod(
  {
    name: 'captureScreenshot',
    namespace: 'browser',
    effect: 'looks',
    signature: "captureScreenshot(path = '/tmp/shot.png', fullPage = false, maxDim?)",
    description:
      'Takes a picture of the page into a PNG file and returns its path; a file that is there is overwritten. `fullPage` takes the whole page, `maxDim` makes the picture smaller until neither side is longer (never larger). Show it with `repl.emitImage({path})`.',
    example: 'await repl.emitImage({ path: await captureScreenshot("/tmp/page.png", true, 1200) });',
  },
  [
    nonEmpty('path').optional(),
    z.boolean({ error: 'fullPage must be a boolean' }).default(false),
    z
      .int({ error: 'maxDim must be a positive integer' })
      .positive({ error: 'maxDim must be a positive integer' })
      .optional(),
  ],
  async ({ scope, page, scratch }, path = `${scratch.inside}/shot.png`, fullPage, maxDim) => {
    const on = await page();
    const { cssContentSize, cssVisualViewport } = await pageSend(scope, on, 'Page.getLayoutMetrics');
    const area = fullPage
      ? { x: 0, y: 0, width: cssContentSize.width, height: cssContentSize.height }
      : {
          x: cssVisualViewport.pageX,
          y: cssVisualViewport.pageY,
          width: cssVisualViewport.clientWidth,
          height: cssVisualViewport.clientHeight,
        };
    const scale = maxDim === undefined ? 1 : Math.min(1, maxDim / Math.max(area.width, area.height));
    const { data } = await pageSend(scope, on, 'Page.captureScreenshot', {
      format: 'png',
      ...(fullPage ? { captureBeyondViewport: true } : {}),
      ...(fullPage || scale < 1 ? { clip: { ...area, scale } } : {}),
    });
    return scratch.write('captureScreenshot', path, Buffer.from(data, 'base64'));
  },
);
