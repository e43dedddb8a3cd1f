// What host and cell process say to each other, one message a frame. The cell trusts its host; the host
// parses what comes from a cell, which anyone may have written (see ../cell-messages.ts).

import type { WireValue } from '../wire-values.ts';
import type { ContentItem } from './output.ts';

/** `kernel` has all globals and imports; `train` has no process, no network of its own and few imports. */
export type CellProfile = 'kernel' | 'train';

/** A method of the REPL. Those of the namespace `repl` are the cell's own, the host carries out the others. */
export type CellMethod = {
  /** Without its namespace. */
  readonly name: string;
  /** `browser` methods are globals as well. */
  readonly namespace: 'repl' | 'browser' | 'webmcp';
};

/** As the host knows it: `click`, `webmcp.listTools`. */
export function qualifiedName({ name, namespace }: CellMethod): string {
  return namespace === 'browser' ? name : `${namespace}.${name}`;
}

/** Texts of `repl.help` by every name it takes; the list of methods has the empty name. */
export type HelpTexts = { readonly [name: string]: string };

export type StartMessage = {
  readonly type: 'start';
  readonly replId: string;
  readonly profile: CellProfile;
  readonly relaxedRedeclaration: boolean;
  readonly methods: readonly CellMethod[];
  readonly help: HelpTexts;
  /** Folder from which `import` looks packages up. */
  readonly importFrom: string;
  /** Whether there is a `CDP_ENDPOINT`. */
  readonly cdpEndpoint: boolean;
};

export type ExecuteMessage = {
  readonly type: 'execute';
  readonly cell: number;
  readonly code: string;
  readonly timeoutMs: number;
};

export type CallError = {
  readonly name: string;
  readonly message: string;
  readonly properties?: { readonly [key: string]: WireValue | undefined };
};

export type ResultMessage = { readonly type: 'result'; readonly id: number } & (
  { readonly value: WireValue } | { readonly error: CallError }
);

/** Something the host has to say to whoever reads the cell's output. */
export type NoteMessage = { readonly type: 'note'; readonly text: string };

/** To a client of `CDP_ENDPOINT`: an answer or an event, as the protocol has them. */
export type CdpToClientMessage = {
  readonly type: 'cdp-message';
  readonly connection: number;
  readonly message: object;
};

/** The host has ended a connection to `CDP_ENDPOINT`. */
export type CdpEndedMessage = { readonly type: 'cdp-ended'; readonly connection: number; readonly reason: string };

export type HostMessage =
  StartMessage | ExecuteMessage | ResultMessage | NoteMessage | CdpToClientMessage | CdpEndedMessage;

export type ReadyMessage = { readonly type: 'ready' };

export type CallMessage = {
  readonly type: 'call';
  readonly id: number;
  /** A qualified name. */
  readonly method: string;
  readonly params: readonly WireValue[];
};

export type DoneMessage = {
  readonly type: 'done';
  readonly cell: number;
  readonly content: readonly ContentItem[];
  readonly contentTruncated: boolean;
  /** Absent when the cell succeeded. */
  readonly error?: string;
  readonly stack?: string;
  /** The process cannot go on and waits for its end. */
  readonly fatal: boolean;
};

/** A client has connected to `CDP_ENDPOINT`. Connections are numbered from 1, each number once. */
export type CdpOpenMessage = { readonly type: 'cdp-open'; readonly connection: number };

export type CdpCommandMessage = {
  readonly type: 'cdp-command';
  readonly connection: number;
  /** The client's own number. */
  readonly id: number;
  readonly method: string;
  readonly params: { readonly [key: string]: unknown };
  readonly sessionId?: string;
};

export type CdpCloseMessage = { readonly type: 'cdp-close'; readonly connection: number };

export type CdpFromClientMessage = CdpOpenMessage | CdpCommandMessage | CdpCloseMessage;

export type CellMessage = ReadyMessage | CallMessage | DoneMessage | CdpFromClientMessage;
