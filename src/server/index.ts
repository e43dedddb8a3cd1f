// Servers over browsers with a REPL: Kernel's HTTP API, and the Model Context Protocol.

export { serveKernel, type KernelServer, type KernelServerOptions } from './kernel/serve.ts';
export { serveMcpStdio, type McpStdioOptions } from './mcp/serve-stdio.ts';
export type { McpSettings } from './mcp/settings.ts';
export type { OpenSession, OpenSessionOptions, ReplSession, SessionWait, Viewport } from './repl-session.ts';
export { stopsAt, stopTextsOf, type TextStop } from './tinker/sampling-params.ts';
export type { ServedModel } from './tinker/served-model.ts';
export { serveTinker, type TinkerServer, type TinkerServerOptions } from './tinker/serve.ts';
