// The official client of Kernel, for whoever has a key and may not know the package.

import Kernel from '@onkernel/sdk';

export type KernelClientOptions = {
  readonly apiKey: string;
  /** Default: Kernel's own address. */
  readonly baseUrl?: string;
};

export function createKernelClient({ apiKey, baseUrl }: KernelClientOptions): Kernel {
  return new Kernel({ apiKey, ...(baseUrl === undefined ? {} : { baseURL: baseUrl }) });
}
