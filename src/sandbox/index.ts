// Jailed subprocesses: whether a jail can be made here, making one, what it may use, what it shares with the host.

export { createEgressProxy, type EgressEvent, type EgressProxy, type EgressProxyOptions } from './egress-proxy.ts';
export type { EgressRule, Lookup } from './egress-rules.ts';
export { JAIL_PROXY } from './forwarder.ts';
export { findBubblewrap } from './find-bubblewrap.ts';
export type { Bind } from './jail-command.ts';
export { jailNode, type JailNode } from './jail-node.ts';
export { DEFAULT_LIMITS, type JailLimits, type LimitBreach } from './limits.ts';
export { probeSandbox, requireJail, type ProbeCheck, type ProbeOptions, type SandboxProbe } from './probe.ts';
export { ownMemory, processTree } from './process-tree.ts';
export { createScratchFolder, type ScratchFolder } from './scratch.ts';
export { spawnJailed, type JailedProcess, type JailOptions } from './spawn-jailed.ts';
