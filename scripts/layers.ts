// The import table: what each folder of src/ may import, which npm packages it may use, and why. Data only;
// `check-layers.ts` enforces it. A folder that is not listed may not exist.

export type LayerRule = {
  /** Imports go to lower layers only; `imports` narrows that further. */
  readonly layer: number;
  readonly imports: readonly string[];
  readonly packages: readonly string[];
  /** Whether `node:` modules may be used. Pure folders may not. */
  readonly node: boolean;
  /** Printed beside every violation. */
  readonly why: string;
};

export type LayerTable = Readonly<Record<string, LayerRule>>;

/** May be imported by tests only: fakes for everyone. */
export const TEST_ONLY_FOLDERS: readonly string[] = ['testing'];

const BASE = ['util', 'core'];
const ALL = [
  'util',
  'core',
  'stats',
  'store',
  'browser',
  'sandbox',
  'tokens',
  'engine',
  'tinker',
  'chat',
  'algorithms',
  'repl',
  'judges',
  'envs',
  'rollout',
  'train',
];

export const LAYERS: LayerTable = {
  util: {
    layer: 0,
    imports: [],
    packages: [],
    node: true,
    why: 'util is domain-free: it must make sense in another project',
  },
  core: {
    layer: 1,
    imports: ['util'],
    packages: ['zod'],
    node: false,
    why: 'core is vocabulary: types and tiny pure functions that every folder can afford to import',
  },
  stats: {
    layer: 1,
    imports: ['util'],
    packages: ['simple-statistics'],
    node: false,
    why: 'stats is pure maths over numbers; it knows no episodes',
  },
  store: {
    layer: 2,
    imports: BASE,
    packages: ['zod'],
    node: true,
    why: 'store is the run folder on disk; it knows formats, not what runs mean',
  },
  browser: {
    layer: 2,
    imports: BASE,
    packages: ['@sparticuz/chromium', 'devtools-protocol', 'ws'],
    node: true,
    why: 'browser owns Chromium processes and pages; it knows no tasks and no models',
  },
  sandbox: {
    layer: 2,
    imports: BASE,
    packages: [],
    node: true,
    why: 'sandbox runs programs in a jail; it knows no browser and no model',
  },
  tokens: {
    layer: 2,
    imports: BASE,
    packages: ['zod', '@huggingface/tokenizers', '@huggingface/jinja'],
    node: true,
    why: 'tokens turns conversations into ids and back; it never sees weights',
  },
  engine: {
    layer: 2,
    imports: BASE,
    packages: ['onnxruntime-node', 'onnx-buf', '@bufbuild/protobuf', '@huggingface/hub', 'tar-stream', 'zod'],
    node: true,
    why: 'engine computes with ids and weights; it never sees text',
  },
  tinker: {
    layer: 2,
    imports: BASE,
    packages: ['@bufbuild/protobuf', 'fzstd', 'zod'],
    node: true,
    why: "tinker is Tinker's wire and a client of it; it knows no engine, so that any server may answer",
  },
  chat: {
    layer: 2,
    imports: BASE,
    packages: ['openai', 'zod'],
    node: true,
    why: 'chat speaks to OpenAI-compatible endpoints in messages; it sees no token ids and no weights',
  },
  algorithms: {
    layer: 2,
    imports: [...BASE, 'stats'],
    packages: [],
    node: false,
    why: 'algorithms is pure maths: no I/O, no clock, no environment',
  },
  repl: {
    layer: 3,
    imports: [...BASE, 'browser', 'sandbox'],
    packages: ['acorn', 'devtools-protocol', '@onkernel/sdk', 'ws', 'zod'],
    node: true,
    why: 'repl composes browser and sandbox into one tool; it knows no tasks and no models',
  },
  judges: {
    layer: 3,
    imports: [...BASE, 'chat'],
    packages: ['zod'],
    node: true,
    why: 'judges turns what the host saw of an episode into a verdict by asking a model; it knows no browser',
  },
  envs: {
    layer: 4,
    imports: [...BASE, 'stats', 'sandbox', 'browser', 'repl', 'judges'],
    packages: ['zod', 'hyparquet', 'tldts', 'jmespath', 'fzstd'],
    node: true,
    why: 'envs makes tasks out of browsers; it knows no policies and no training',
  },
  rollout: {
    layer: 3,
    imports: BASE,
    packages: [],
    node: false,
    why: 'rollout sees environment and policy by interface, so it never knows that it drives a browser',
  },
  train: {
    layer: 5,
    imports: [...BASE, 'stats', 'store', 'algorithms', 'rollout'],
    packages: ['zod'],
    node: true,
    why: 'train sees backends and environments by interface, so a loop never knows what it trains on',
  },
  experiments: {
    layer: 6,
    imports: [...BASE, 'stats', 'store', 'algorithms', 'rollout', 'train'],
    packages: ['zod', 'd3-scale', 'd3-shape'],
    node: true,
    why: 'experiments composes loops into stages and reports; concrete parts come in as arguments',
  },
  server: {
    layer: 7,
    imports: [...BASE, 'repl', 'tinker'],
    packages: [
      'hono',
      '@hono/node-server',
      '@modelcontextprotocol/sdk',
      '@bufbuild/protobuf',
      'fzstd',
      'tar-stream',
      'prom-client',
      'zod',
    ],
    node: true,
    why: 'server offers what there is over HTTP and other protocols; concrete parts come in as arguments',
  },
  cli: {
    layer: 8,
    imports: [...ALL, 'experiments', 'server'],
    packages: ['commander', 'zod'],
    node: true,
    why: 'cli is the composition root: the only place that picks concrete parts and prints',
  },
  testing: {
    layer: 7,
    imports: [...BASE, 'algorithms'],
    packages: [],
    node: false,
    why: 'testing holds fakes of core interfaces; a fake that needs the real thing is not one',
  },
};
