// The answer to one cell, field for field as Kernel's API gives it, so that a policy sees the same here and there.

import type { ContentItem } from './cell/output.ts';

export type { ContentItem };

export type BrowserReplResult = {
  readonly success: boolean;
  /** Names the runtime that ran the cell: state lives as long as this id. */
  readonly repl_id: string;
  /** In the order in which it was shown, over all channels. */
  readonly content?: readonly ContentItem[];
  readonly content_truncated?: boolean;
  readonly duration_ms?: number;
  readonly error?: string;
  readonly stack?: string;
  /** The runtime is gone with all its state; the next cell starts a new one. */
  readonly repl_terminated?: boolean;
};
