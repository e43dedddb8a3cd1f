// The tool `browser_repl`: what a model may say, and how the answer to a cell is shown to it. The shape is Kernel's.

import { z } from 'zod';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { BrowserReplResult, ContentItem } from '../../repl/index.ts';

export const browserReplInput = z.strictObject({
  session_id: z
    .string()
    .min(1)
    .max(255)
    .describe('Which browser. A name that is new opens one; its tabs and variables stay until the server ends.'),
  code: z.string().default('').describe('JavaScript to run. May be empty only with reset.'),
  reset: z.boolean().default(false).describe('Ends the runtime and its variables first. The browser stays.'),
  timeout_sec: z
    .int()
    .min(1)
    .max(150)
    .default(60)
    .describe('Seconds after which the cell, and the runtime with it, is ended.'),
  project: z.string().optional().describe('Accepted and ignored: there is one project here.'),
  project_id: z.string().optional().describe('Accepted and ignored: there is one project here.'),
});

/** The result as JSON without its images, then the images. A cell that failed is an answer, not an error of the tool. */
export function toolResult(result: BrowserReplResult): CallToolResult {
  const { success, repl_id, content, content_truncated, duration_ms, error, stack, repl_terminated } = result;
  const shown = {
    success,
    repl_id,
    content: content?.map(withoutBytes),
    content_truncated,
    duration_ms,
    error,
    stack,
    repl_terminated,
  };
  const images = (content ?? []).filter((item) => item.type === 'image');
  return {
    content: [
      { type: 'text', text: JSON.stringify(shown, null, 2) },
      ...images.map(({ data_b64, mime_type }) => ({ type: 'image' as const, data: data_b64, mimeType: mime_type })),
    ],
  };
}

function withoutBytes(item: ContentItem, index: number): object {
  if (item.type === 'text') return { index, type: item.type, channel: item.channel, text: item.text };
  return { index, type: item.type, mime_type: item.mime_type };
}
