// The parts of a run in their order: cheap ones first, so that a broken codec shows before an hour of Python. Each is
// independent of the others and makes what it needs.

import type { Context } from './context.ts';
import { codecPart } from './parts/codec.ts';
import { cookbookPart } from './parts/cookbook.ts';
import { renderersPart } from './parts/renderers.ts';
import { sdkPart } from './parts/sdk.ts';
import { skyrlPart } from './parts/skyrl.ts';

export type Part = {
  readonly name: string;
  /** Whether `--quick` runs it. */
  readonly quick: boolean;
  readonly run: (context: Context) => Promise<void>;
};

export const PARTS: readonly Part[] = [
  { name: 'codec sdk-0.38.0', quick: true, run: (context) => codecPart(context, 'sdk-0.38.0') },
  { name: 'codec sdk-0.25.0', quick: true, run: (context) => codecPart(context, 'sdk-0.25.0') },
  { name: 'codec sdk-0.24.1', quick: true, run: (context) => codecPart(context, 'sdk-0.24.1') },
  { name: 'sdk 0.38.0', quick: true, run: (context) => sdkPart(context, '0.38.0') },
  { name: 'sdk 0.25.0', quick: true, run: (context) => sdkPart(context, '0.25.0') },
  { name: 'sdk 0.24.1', quick: true, run: (context) => sdkPart(context, '0.24.1') },
  { name: 'renderers', quick: false, run: renderersPart },
  { name: 'cookbook 0.5.8', quick: false, run: (context) => cookbookPart(context, '0.5.8') },
  { name: 'cookbook 0.6.1', quick: false, run: (context) => cookbookPart(context, '0.6.1') },
  { name: 'skyrl', quick: false, run: skyrlPart },
];
