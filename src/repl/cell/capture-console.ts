// The console of cells: Node's own formatting, written to the answer instead of to a terminal. One call is one item,
// without the newline that ends it.

import { Console } from 'node:console';
import type { Output, TextChannel } from './output.ts';
import type { Realm } from './realm.ts';

export function createCellConsole(realm: Realm, output: Output): Record<string, unknown> {
  const stream = (channel: TextChannel): NodeJS.WritableStream =>
    ({
      write: (text: string) => output.text(channel, text.endsWith('\n') ? text.slice(0, -1) : text),
    }) as unknown as NodeJS.WritableStream;
  // Told not to ignore errors, Console asks no more of a stream than `write`.
  const console = new Console({
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    ignoreErrors: false,
    colorMode: false,
  });
  const methods = console as unknown as Record<string, unknown>;
  const result = realm.object();
  for (const name of Object.keys(methods)) {
    const method = methods[name];
    if (typeof method === 'function' && !name.startsWith('_')) {
      result[name] = realm.wrap(name, (args) => Reflect.apply(method, console, args) as unknown);
    }
  }
  return result;
}
