// Tools that a cell adds and that run in the cell: the host keeps what they are called and for which addresses they are,
// their functions stay here. Asked to invoke one, the host answers with what to run.

import type { HostLink } from './host-link.ts';
import type { Realm } from './realm.ts';

type Definition = { readonly execute?: unknown } | null | undefined;
type Execute = (input: unknown, context: { readonly signal: AbortSignal; readonly matches: unknown }) => unknown;
type Run = { readonly id: string; readonly input: unknown; readonly matches: unknown; readonly invocationId: string };

const DEFAULT_TIMEOUT_SEC = 60;

/** By qualified name, the methods that are more than a call to the host. */
export function createCustomTools(realm: Realm, link: HostLink): ReadonlyMap<string, unknown> {
  const functions = new Map<string, Execute>();

  const addCustomTools = async (args: unknown[]): Promise<unknown> => {
    const tools = [...((args[0] as { readonly tools?: Iterable<Definition> } | undefined)?.tools ?? [])];
    const added = (await link.call('webmcp.addCustomTools', args)) as readonly { readonly id: string }[];
    for (const [index, { id }] of added.entries()) functions.set(id, tools[index]!.execute as Execute);
    return added;
  };

  const invokeTool = async (args: unknown[]): Promise<unknown> => {
    const answer = (await link.call('webmcp.invokeTool', args)) as { readonly $run?: Run };
    if (answer.$run === undefined) return answer;
    const { id, input, matches, invocationId } = answer.$run;
    const result = realm.object();
    result.invocation_id = invocationId;
    const execute = functions.get(id);
    if (execute === undefined)
      throw new realm.Error('WebMCP error: the session that added the tool has ended; add it again');
    const seconds = (args[2] as { readonly timeoutSec?: number } | undefined)?.timeoutSec ?? DEFAULT_TIMEOUT_SEC;
    try {
      const output = (await inTime(seconds, (signal) => execute(input, { signal, matches }))) ?? null;
      // The host knows the schema; what the tool did is done, whatever it says of the output.
      return await link.call('webmcp.listCustomTools', [{ id, invocationId, output }]);
    } catch (error) {
      result.error_text = (error as Error | undefined)?.message ?? String(error);
      result.status = 'error';
    }
    return result;
  };

  return new Map([
    ['webmcp.addCustomTools', realm.wrapAsync('addCustomTools', addCustomTools)],
    ['webmcp.invokeTool', realm.wrapAsync('invokeTool', invokeTool)],
  ]);
}

/** The function is told when its time is up, and not waited for any longer. */
async function inTime(seconds: number, work: (signal: AbortSignal) => unknown): Promise<unknown> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      controller.abort();
      reject(new Error(`the tool did not end within ${seconds}s; what it did so far stays done`));
    }, seconds * 1000);
  });
  try {
    return await Promise.race([work(controller.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}
