// WebMCP: tools that pages offer (`document.modelContext` and forms with a `toolname`) and tools that cells add. All tabs
// and frames are asked, each through a session of the host's own, so that a cell's session is left alone.
// Source: https://chromedevtools.github.io/devtools-protocol/tot/WebMCP/ and https://webmachinelearning.github.io/webmcp/
// What a page says about its tools is the page's word, and nothing is done because of it.

import type { Protocol } from 'devtools-protocol';
import { onAbort } from '../../util/index.ts';
import { targets, topPage, type TargetInfo } from './attach.ts';
import type { AttachedBrowser } from './attached-browser.ts';
import { describeException } from './evaluate.ts';
import { isCdpFailure, isCdpTimeout, isPageGone, webmcpFailed } from './failures.ts';
import type { Scope } from './scope.ts';
import { createCustomTools, matchesUrl, type CustomTool, type CustomTools } from './webmcp-custom.ts';

type PageTool = Protocol.WebMCP.Tool;
type Response = Protocol.WebMCP.ToolRespondedEvent;

export type Invocation =
  | {
      readonly invocation_id: string;
      readonly status: 'completed' | 'canceled' | 'error' | 'awaiting_submission';
      readonly output?: unknown;
      readonly error_text?: string;
    }
  /** For the cell to carry out: the function is there. */
  | {
      readonly $run: {
        readonly id: string;
        readonly input: unknown;
        readonly matches: readonly object[];
        readonly invocationId: string;
      };
    };

export interface WebMcp {
  readonly custom: CustomTools;
  listTools(scope: Scope, options: { readonly excludeCustom: boolean }): Promise<readonly object[]>;
  /** Name of a listed tool; undefined when there is none with this reference. */
  nameOf(toolRef: string): string | undefined;
  invokeTool(scope: Scope, toolRef: string, input: Readonly<Record<string, unknown>>): Promise<Invocation>;
  /** What a tool that ran in the cell came to, once its output has been checked. */
  finish(finished: FinishedRun): Invocation;
}

export type FinishedRun = { readonly id: string; readonly invocationId: string; readonly output?: unknown };

type Place = {
  readonly targetId: string;
  readonly sessionId: string;
  readonly frameId: string;
  /** Of the document: tools end with it. */
  readonly loaderId: string;
  readonly url: string;
};
type Listed =
  | { readonly ref: string; readonly by: 'page'; readonly tool: PageTool; readonly place: Place }
  | { readonly ref: string; readonly by: 'cell'; readonly tool: CustomTool; readonly places: readonly Place[] };

/** A page that does not answer within this is left out of the list, milliseconds. */
const PAGE_ANSWER_MS = 3_000;
/** A form that nobody submits answers never; after this it is said to be waiting. */
const SUBMISSION_MS = 1_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

export function createWebMcp(browser: AttachedBrowser): WebMcp {
  const custom = createCustomTools();
  const sessions = new Map<string, string>(); // target id -> session id
  const pageTools = new Map<string, { readonly sessionId: string; readonly tool: PageTool }>(); // session, frame and name -> tool
  const refs = new Map<string, string>(); // document and name -> reference
  const listed = new Map<string, Listed>();
  const responses = new Map<string, Response>();
  const waiting = new Map<string, (response: Response) => void>();
  const tabs = new Map<string, number>(); // target id -> number of the tab
  let lastRef = 0;
  let lastInvocation = 0;

  browser.onEvent(({ method, params, sessionId }) => {
    if (method === 'Target.detachedFromTarget') {
      const gone = (params as { sessionId: string }).sessionId;
      for (const [targetId, session] of sessions) if (session === gone) sessions.delete(targetId);
      for (const [key, tool] of pageTools) if (tool.sessionId === gone) pageTools.delete(key);
    }
    if (sessionId === undefined || !browser.isPrivate(sessionId)) return;
    const key = (tool: { frameId: string; name: string }): string => `${sessionId} ${tool.frameId} ${tool.name}`;
    if (method === 'WebMCP.toolsAdded') {
      for (const tool of (params as Protocol.WebMCP.ToolsAddedEvent).tools) {
        pageTools.set(key(tool), { tool, sessionId });
      }
    }
    if (method === 'WebMCP.toolsRemoved') {
      for (const tool of (params as Protocol.WebMCP.ToolsRemovedEvent).tools) pageTools.delete(key(tool));
    }
    if (method === 'WebMCP.toolResponded') {
      const response = params as Response;
      const waiter = waiting.get(response.invocationId);
      if (waiter === undefined) responses.set(response.invocationId, response);
      else waiter(response);
    }
  });

  /** The host's session of a target and the target's frames; undefined where there is no answer. */
  const visit = async (scope: Scope, { targetId }: TargetInfo): Promise<readonly Place[] | undefined> => {
    const asking = scope.within(PAGE_ANSWER_MS);
    try {
      let sessionId = sessions.get(targetId);
      if (sessionId === undefined || !browser.isPrivate(sessionId)) {
        sessionId = await browser.attachPrivately(await browser.connection(scope.signal), targetId);
        sessions.set(targetId, sessionId);
      }
      // Chromium does not say that tools are gone when their page is left, so it is asked anew.
      if (waiting.size === 0) {
        await enable(asking, sessionId);
      }
      const { frameTree } = await asking.send({ sessionId }, 'Page.getFrameTree');
      return framesOf(frameTree).map(({ id, loaderId, url }) => ({ targetId, sessionId, frameId: id, loaderId, url }));
    } catch (error) {
      if (isCdpFailure(error) || isCdpTimeout(error) || isPageGone(error)) return undefined;
      throw error;
    }
  };

  const enable = async (asking: Scope, sessionId: string): Promise<void> => {
    try {
      await asking.send({ sessionId }, 'WebMCP.disable');
      for (const [key, tool] of pageTools) if (tool.sessionId === sessionId) pageTools.delete(key);
      await asking.send({ sessionId }, 'WebMCP.enable');
    } catch (error) {
      if (!isCdpFailure(error)) throw error; // a browser without WebMCP: cells can add tools all the same
    }
  };

  const sourceOf = async (scope: Scope, page: TargetInfo, place: Place): Promise<object> => {
    if (!tabs.has(page.targetId)) tabs.set(page.targetId, tabs.size + 1);
    const { windowId } = await scope.send({ sessionId: undefined }, 'Browser.getWindowForTarget', {
      targetId: page.targetId,
    });
    return {
      window_id: windowId,
      tab_id: tabs.get(page.targetId),
      target_id: place.targetId,
      page_title: page.title,
      page_url: page.url,
      frame: place.frameId === page.targetId ? null : { frame_id: place.frameId, url: place.url },
    };
  };

  const customRef = (tool: CustomTool, { targetId, frameId }: Place): string => {
    const known = [...listed.values()].find(
      (entry) =>
        entry.by === 'cell' &&
        entry.tool === tool &&
        entry.places[0].targetId === targetId &&
        (tool.kind === 'cdp' || entry.places[0].frameId === frameId),
    );
    return known?.ref ?? `tool_${++lastRef}`;
  };

  return {
    custom,
    nameOf: (toolRef) => {
      const found = listed.get(toolRef);
      return found?.by === 'cell' ? found.tool.tool.name : found?.tool.name;
    },
    async listTools(scope, { excludeCustom }) {
      const all = (await targets(scope)).filter(({ type }) => type === 'page' || type === 'iframe');
      const result: object[] = [];
      const current = new Map<string, Listed>();
      for (const target of all) {
        const places = await visit(scope, target);
        if (places === undefined) continue;
        const page = topPage(all, target);
        for (const place of places) {
          for (const { sessionId, tool } of pageTools.values()) {
            if (sessionId !== place.sessionId || tool.frameId !== place.frameId) continue;
            const document = `${place.sessionId} ${place.loaderId} ${tool.name}`;
            const ref = refs.get(document) ?? `tool_${++lastRef}`;
            refs.set(document, ref);
            current.set(ref, { ref, by: 'page', tool, place });
            result.push({ tool_ref: ref, tool: described(tool), source: await sourceOf(scope, page, place) });
          }
        }
        for (const tool of custom.all) {
          const matching = places.filter(({ url }) => matchesUrl(url, tool.match.url_patterns));
          // A page tool is one in each document that it matches, another kind is one for all of them.
          const groups = tool.kind === 'page' ? matching.map((place) => [place]) : [matching];
          for (const where of groups) {
            if (where.length === 0) continue;
            const entry = { ref: customRef(tool, where[0]), by: 'cell', tool, places: where } as const;
            current.set(entry.ref, entry);
            if (excludeCustom) continue;
            const source = await sourceOf(scope, page, where[0]);
            result.push({
              tool_ref: entry.ref,
              tool: tool.tool,
              source: { ...source, custom: { id: tool.id, namespace: tool.namespace } },
            });
          }
        }
      }
      listed.clear();
      for (const [ref, entry] of current) listed.set(ref, entry);
      return result;
    },
    async invokeTool(scope, toolRef, input) {
      const entry = listed.get(toolRef);
      const gone = entry === undefined || (entry.by === 'cell' && !custom.all.includes(entry.tool));
      if (gone || !(await isThere(scope, entry.by === 'page' ? entry.place : entry.places[0]))) {
        throw webmcpFailed(404, 'the tool is no longer there; list the tools again');
      }
      if (entry.by === 'page') return invokePageTool(scope, entry, input);
      const invocationId = `invocation_${++lastInvocation}`;
      const checked = entry.tool.input.safeParse(input);
      if (!checked.success)
        return failed(invocationId, `the input does not fit the tool's schema: ${checked.error.issues[0].message}`);
      if (entry.tool.kind === 'page') return invokeInPage(scope, entry, { input, invocationId });
      const matches = entry.places.map(({ frameId, targetId, url }) => ({
        frame_id: frameId,
        target_id: targetId,
        top_target_id: targetId,
        url,
      }));
      return { $run: { id: entry.tool.id, input, matches, invocationId } };
    },
    finish: ({ id, invocationId, output }) =>
      completed(
        invocationId,
        custom.all.find((tool) => tool.id === id),
        output,
      ),
  };

  /** Whether the document that a tool was listed for is still the one in its frame. */
  async function isThere(scope: Scope, { sessionId, frameId, loaderId }: Place): Promise<boolean> {
    try {
      const { frameTree } = await scope.send({ sessionId }, 'Page.getFrameTree');
      return framesOf(frameTree).some((frame) => frame.id === frameId && frame.loaderId === loaderId);
    } catch (error) {
      if (isCdpFailure(error) || isPageGone(error)) return false; // its tab is closed
      throw error;
    }
  }

  async function invokePageTool(
    scope: Scope,
    { tool, place: { sessionId } }: Listed & { by: 'page' },
    input: object,
  ): Promise<Invocation> {
    let invocationId: string;
    try {
      const call = { frameId: tool.frameId, toolName: tool.name, input };
      ({ invocationId } = await scope.send({ sessionId }, 'WebMCP.invokeTool', call));
    } catch (error) {
      if (isCdpFailure(error) && (error as Error).message.includes('not found'))
        throw webmcpFailed(404, 'the tool is no longer there; list the tools again');
      if (isCdpTimeout(error))
        throw webmcpFailed(504, 'whether the call began could not be seen; do not repeat it unasked', {
          code: 'outcome_unknown',
        });
      throw error;
    }
    const needsSubmission = tool.backendNodeId !== undefined && tool.annotations?.autosubmit !== true;
    const response = await responseTo(scope, invocationId, needsSubmission ? SUBMISSION_MS : scope.left());
    if (response === undefined) {
      if (needsSubmission) return { invocation_id: invocationId, status: 'awaiting_submission' };
      throw webmcpFailed(504, 'the call began, and how it ended could not be seen; do not repeat it unasked', {
        code: 'outcome_unknown',
        invocationId,
      });
    }
    const text = response.errorText || response.exception?.description;
    return {
      invocation_id: invocationId,
      status: response.status.toLowerCase() as 'completed' | 'canceled' | 'error',
      ...(response.output === undefined ? {} : { output: response.output as unknown }),
      ...(text === undefined || text === '' ? {} : { error_text: text }),
    };
  }

  function responseTo(scope: Scope, invocationId: string, ms: number): Promise<Response | undefined> {
    const early = responses.get(invocationId);
    responses.delete(invocationId);
    if (early !== undefined) return Promise.resolve(early);
    return new Promise((resolve, reject) => {
      const finish = (): void => {
        clearTimeout(timer);
        off();
        waiting.delete(invocationId);
      };
      const off = onAbort(scope.signal, () => {
        finish();
        reject(scope.signal.reason as Error);
      });
      const timer = setTimeout(
        () => {
          finish();
          resolve(undefined);
        },
        Math.min(ms, scope.left()),
      );
      waiting.set(invocationId, (response) => {
        finish();
        resolve(response);
      });
    });
  }
}

async function invokeInPage(
  scope: Scope,
  { tool, places }: Listed & { by: 'cell' },
  { input, invocationId }: { readonly input: object; readonly invocationId: string },
): Promise<Invocation> {
  const call = `(${tool.source})(${JSON.stringify(input)}, { signal: new AbortController().signal })`;
  try {
    const { result, exceptionDetails } = await runIn(scope, places[0], call);
    if (exceptionDetails !== undefined) return failed(invocationId, describeException(exceptionDetails));
    return completed(invocationId, tool, result.value as unknown);
  } catch (error) {
    if (isCdpFailure(error)) return failed(invocationId, (error as Error).message);
    if (!isCdpTimeout(error)) throw error;
    throw webmcpFailed(504, 'the call began, and how it ended could not be seen; do not repeat it unasked', {
      code: 'outcome_unknown',
      invocationId,
    });
  }
}

/** An expression in the document of a frame, where the page's own scripts run. */
async function runIn(
  scope: Scope,
  { sessionId, targetId, frameId }: Place,
  expression: string,
): Promise<Protocol.Runtime.EvaluateResponse> {
  const how = { awaitPromise: true, returnByValue: true } as const;
  if (frameId === targetId) return scope.send({ sessionId }, 'Runtime.evaluate', { expression, ...how });
  // A frame that shares the process of the page around it: its document says where.
  const { backendNodeId: frame } = await scope.send({ sessionId }, 'DOM.getFrameOwner', { frameId });
  const { node } = await scope.send({ sessionId }, 'DOM.describeNode', { backendNodeId: frame, pierce: true });
  const { object } = await scope.send({ sessionId }, 'DOM.resolveNode', {
    backendNodeId: node.contentDocument?.backendNodeId ?? 0,
  });
  return scope.send({ sessionId }, 'Runtime.callFunctionOn', {
    objectId: object.objectId!, // a node has one
    functionDeclaration: `function () { return ${expression}; }`,
    ...how,
  });
}

function completed(invocationId: string, tool: CustomTool | undefined, given: unknown): Invocation {
  const output = given ?? null;
  const checked = tool?.output?.safeParse(output);
  if (checked?.success === false)
    return failed(invocationId, `the output does not fit the tool's schema: ${checked.error.issues[0].message}`);
  if (Buffer.byteLength(JSON.stringify(output) ?? '') > MAX_OUTPUT_BYTES)
    return failed(invocationId, 'the output is longer than 1 MiB');
  return { invocation_id: invocationId, status: 'completed', output };
}

function failed(invocationId: string, error_text: string): Invocation {
  return { invocation_id: invocationId, status: 'error', error_text };
}

function described({ name, description, inputSchema, outputSchema, annotations }: PageTool): object {
  const hints = {
    readOnlyHint: annotations?.readOnly,
    untrustedContentHint: annotations?.untrustedContent,
    consequentialHint: annotations?.consequential,
    autosubmit: annotations?.autosubmit,
  };
  return {
    name,
    description,
    inputSchema: (inputSchema as unknown) ?? {},
    ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as unknown }),
    ...(annotations === undefined ? {} : { annotations: JSON.parse(JSON.stringify(hints)) as unknown }),
  };
}

function framesOf(tree: Protocol.Page.FrameTree): readonly Protocol.Page.Frame[] {
  const frames: Protocol.Page.Frame[] = [];
  const open = [tree];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    frames.push(at.frame);
    open.push(...[...(at.childFrames ?? [])].reverse());
  }
  return frames;
}
