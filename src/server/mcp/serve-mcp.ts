// The Model Context Protocol over a transport: one tool, over browsers that it opens when they are first named.

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { browserReplInput, toolResult } from './browser-repl-tool.ts';
import { createNamedSessions } from './named-sessions.ts';
import type { McpSettings } from './settings.ts';

/** Disposing it ends every browser and closes the transport. */
export async function serveMcp(transport: Transport, settings: McpSettings): Promise<AsyncDisposable> {
  const { openSession, version, description, maxSessions = 4, idleMs = 600_000 } = settings;
  const sessions = createNamedSessions({ openSession, maxSessions, idleMs });
  const server = new McpServer({ name: 'tabwright', version });
  server.registerTool(
    'browser_repl',
    { title: 'Browser REPL', description, inputSchema: browserReplInput },
    ({ session_id, code, reset, timeout_sec }, { signal }) =>
      sessions.use(session_id, async (session) =>
        toolResult(await session.execute({ code, reset, timeoutMs: timeout_sec * 1000, signal })),
      ),
  );
  await server.connect(transport);
  return {
    async [Symbol.asyncDispose]() {
      await sessions[Symbol.asyncDispose]();
      await server.close();
    },
  };
}
