// A pool of browsers at Kernel, or at `tabwright browsers serve` where KERNEL_BASE_URL says so. One of that name is kept.

import Kernel, { APIError, ConflictError } from '@onkernel/sdk';
import { POOL, POOL_SIZE } from './workflow.ts';

if (!process.env['KERNEL_API_KEY'] && !process.env['KERNEL_BASE_URL']) {
  console.error('Set KERNEL_API_KEY for browsers at Kernel, or KERNEL_BASE_URL to a `tabwright browsers serve`.');
  process.exit(2);
}
// Servers of one's own ask for no key, and the client wants one.
const client = new Kernel({ apiKey: process.env['KERNEL_API_KEY'] || 'none' });
try {
  // Idle time is longer than a slow model thinks; heartbeats keep a browser that is in use from being taken for idle.
  const pool = await client.browserPools.create({ name: POOL, size: POOL_SIZE, headless: true, timeout_seconds: 600 });
  console.log(`Pool ${POOL} of ${POOL_SIZE} browsers: ${pool.id}`);
} catch (error) {
  if (error instanceof APIError && !(error instanceof ConflictError)) {
    console.error(`No pool ${POOL} was made: ${error.message}`);
    process.exit(1);
  }
  if (!(error instanceof ConflictError)) throw error;
  console.log(`There is a pool ${POOL} already.`);
}
