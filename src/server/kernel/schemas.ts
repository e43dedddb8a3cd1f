// What clients may send, field for field as Kernel's API names it. Unknown fields are refused, and so are fields that
// would make another browser than the one there is (profiles, proxies, extensions): doing as if would be worse.

import { z } from 'zod';

/** Unique among those alive; may stand where an id can. */
const name = z
  .string()
  .max(255)
  .regex(/^[A-Za-z0-9._-]+$/, 'letters, digits, dots, underscores and hyphens only');
const timeoutSeconds = z.int().min(10).max(259_200);
const startUrl = z.url({ protocol: /^(https?|data|about)$/ }).max(65_536);
const viewport = z.strictObject({
  width: z.int().min(1).max(10_000),
  height: z.int().min(1).max(10_000),
  refresh_rate: z.int().min(1).max(240).optional(),
});

/** Every browser here is headless and without disguise, whatever is asked for; answers say so. */
const looks = {
  headless: z.boolean().optional(),
  stealth: z.boolean().optional(),
  kiosk_mode: z.boolean().optional(),
  telemetry: z.unknown().optional(),
};

const browser = {
  ...looks,
  timeout_seconds: timeoutSeconds.optional(),
  start_url: startUrl.optional(),
  viewport: viewport.optional(),
};

export const createBrowserBody = z.strictObject({
  ...browser,
  name: name.optional(),
  tags: z.record(z.string(), z.string()).optional(),
});

export const createPoolBody = z.strictObject({
  ...browser,
  name: name.optional(),
  size: z.int().min(1).max(1_000),
  /** Browsers are made as fast as the machine can. */
  fill_rate_per_minute: z.number().positive().optional(),
});

export const updatePoolBody = createPoolBody.partial().extend({ discard_all_idle: z.boolean().default(false) });

export const deletePoolBody = z.strictObject({ force: z.boolean().default(false) });

export const acquireBody = z.strictObject({
  /** Kernel's default is the time that filling the pool takes; here that is seconds. */
  acquire_timeout_seconds: z.number().min(0).max(3_600).default(30),
  name: name.optional(),
  start_url: startUrl.optional(),
  tags: z.record(z.string(), z.string()).optional(),
  telemetry: z.unknown().optional(),
});

export const releaseBody = z.strictObject({ session_id: z.string(), reuse: z.boolean().default(true) });

export const replBody = z.strictObject({
  code: z.string(),
  timeout_sec: z.int().min(1).max(300).default(60),
  reset: z.boolean().default(false),
});

export const screenshotBody = z.strictObject({
  region: z
    .strictObject({
      x: z.int().min(0),
      y: z.int().min(0),
      width: z.int().min(1),
      height: z.int().min(1),
    })
    .optional(),
});

export const page = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  offset: z.coerce.number().int().min(0).default(0),
});

export type BrowserSettings = Pick<z.infer<typeof createBrowserBody>, keyof typeof browser>;
export type PoolSettings = z.infer<typeof createPoolBody>;
export type Region = NonNullable<z.infer<typeof screenshotBody>['region']>;

/** Seconds without a request after which a browser that is in use is ended. */
export const DEFAULT_IDLE_SECONDS = 600;
