// Carries what the clients of a cell's `CDP_ENDPOINT` send to the browser's side and back. The cell may send anything
// and as much as it likes: commands beyond a size, a number or a rate are answered with an error, a client that does not
// read is cut off, and what the cell's own program never sends ends the process. What a command may do is not judged here.

import { LIMITS } from './cell/limits.ts';
import type { CdpCommandMessage, CdpEndedMessage, CdpFromClientMessage, CdpToClientMessage } from './cell/messages.ts';
import type { HostCallContext, HostCalls, RawConnection } from './cell-calls.ts';

export type ServeEndpointOptions = {
  readonly connect: NonNullable<HostCalls['connectRaw']>;
  /** Writes a `CdpToClientMessage` or a `CdpEndedMessage`. */
  readonly send: (json: string) => void;
  /** Bytes that the cell has not read yet. */
  readonly unreadBytes: () => number;
  /** Of the cell that is running now. */
  readonly context: () => Pick<HostCallContext, 'cell'>;
  /** Monotonic clock, milliseconds; default `performance.now`. */
  readonly now?: () => number;
};

export interface ServedEndpoint {
  /** `bytes`: what the message took. Throws for one that the cell's own program would never send. */
  receive(message: CdpFromClientMessage, bytes: number): void;
  /** The cell is gone. */
  close(): void;
}

/** Commands in flight of one connection. */
const MAX_IN_FLIGHT = 256;
/** What the commands in flight of all connections take, bytes. */
const MAX_BYTES_IN_FLIGHT = 64 * 1024 * 1024;
/** Commands a second of all connections together, on the long run; so many may come at once after a pause. */
const MAX_RATE = 2_000;
/** One answer, and what waits to be read by the cell; bytes. */
const MAX_UNREAD_BYTES = 32 * 1024 * 1024;

/** JSON-RPC's code for failures that the server defines. */
const SERVER_ERROR = -32000;

type Client = { readonly link: RawConnection; readonly inFlight: Map<number, number> };

export function serveEndpoint(options: ServeEndpointOptions): ServedEndpoint {
  const { connect, send, unreadBytes, context, now = () => performance.now() } = options;
  const clients = new Map<number, Client>();
  let last = 0;
  let bytesInFlight = 0;
  let tokens = MAX_RATE;
  let filledAt = now();

  const takeToken = (): boolean => {
    const at = now();
    tokens = Math.min(MAX_RATE, tokens + ((at - filledAt) / 1000) * MAX_RATE);
    filledAt = at;
    if (tokens < 1) return false;
    tokens--;
    return true;
  };
  const remove = (connection: number): void => {
    const client = clients.get(connection);
    if (client === undefined) return;
    clients.delete(connection);
    for (const bytes of client.inFlight.values()) bytesInFlight -= bytes;
    client.link.close();
  };
  const end = (connection: number, reason: string): void => {
    remove(connection);
    send(JSON.stringify({ type: 'cdp-ended', connection, reason } satisfies CdpEndedMessage));
  };
  const toClient = (connection: number, message: object): void => {
    const json = JSON.stringify({ type: 'cdp-message', connection, message } satisfies CdpToClientMessage);
    if (json.length > MAX_UNREAD_BYTES) end(connection, `a message is larger than ${MAX_UNREAD_BYTES} bytes`);
    else if (unreadBytes() > MAX_UNREAD_BYTES) end(connection, 'messages are not read');
    else send(json);
  };

  const open = (connection: number): void => {
    if (connection <= last) throw new Error(`connection ${connection} has been there already`);
    last = connection;
    if (clients.size >= LIMITS.cdpConnections) {
      end(connection, `${LIMITS.cdpConnections} connections are open already`);
      return;
    }
    const inFlight = new Map<number, number>();
    const link = connect({
      send(message) {
        const { id } = message as { readonly id?: number };
        if (id !== undefined) {
          bytesInFlight -= inFlight.get(id) ?? 0;
          inFlight.delete(id);
        }
        toClient(connection, message);
      },
      ended: (reason) => end(connection, reason),
    });
    clients.set(connection, { link, inFlight });
  };

  const command = ({ connection, id, method, params, sessionId }: CdpCommandMessage, bytes: number): void => {
    const client = clients.get(connection);
    if (client === undefined) return; // ended by the host while the command was on its way
    const { link, inFlight } = client;
    const refusal = takeToken() ? refused(inFlight, { id, bytes }) : `more than ${MAX_RATE} commands a second`;
    if (refusal !== undefined) {
      const error = { code: SERVER_ERROR, message: `CDP ${method.slice(0, 100)} refused: ${refusal}` };
      toClient(connection, { id, error, ...(sessionId === undefined ? {} : { sessionId }) });
      return;
    }
    inFlight.set(id, bytes);
    bytesInFlight += bytes;
    link.command({ id, method, params, sessionId }, context());
  };
  const refused = (
    inFlight: ReadonlyMap<number, number>,
    { id, bytes }: { readonly id: number; readonly bytes: number },
  ): string | undefined => {
    if (inFlight.has(id)) return `a command with the id ${id} is in flight`;
    if (inFlight.size >= MAX_IN_FLIGHT) return `${MAX_IN_FLIGHT} commands are in flight already`;
    if (bytes > LIMITS.cdpCommandBytes) return `it takes ${bytes} bytes; the limit is ${LIMITS.cdpCommandBytes}`;
    if (bytesInFlight + bytes > MAX_BYTES_IN_FLIGHT) return 'the commands in flight are too large together';
    return undefined;
  };

  return {
    receive(message, bytes) {
      if (message.type === 'cdp-open') open(message.connection);
      else if (message.type === 'cdp-command') command(message, bytes);
      else remove(message.connection);
    },
    close() {
      for (const connection of [...clients.keys()]) remove(connection);
    },
  };
}
