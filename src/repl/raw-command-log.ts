// What the action log says of a raw protocol command: whether it may act, and on what. A command that is not known to
// look only is taken to act.

import type { Subject } from './action-log.ts';
import type { CdpCommand } from './cdp-policy.ts';

const LOOKS =
  /^(?:\w+\.(?:enable|disable|get[A-Z]\w*|describe\w+)|Target\.(?:setAutoAttach|setDiscoverTargets|attachToTarget|attachToBrowserTarget|detachFromTarget)|Page\.(?:captureScreenshot|setLifecycleEventsEnabled|createIsolatedWorld)|Runtime\.(?:runIfWaitingForDebugger|releaseObject|releaseObjectGroup))$/;

export function effectOf(method: string): 'looks' | 'acts' {
  return LOOKS.test(method) ? 'looks' : 'acts';
}

/** Of a command that has passed the policy. */
export function subjectOf({ method, params }: CdpCommand): Subject {
  const { url, text, key, type, x, y } = params;
  const isMouse = method === 'Input.dispatchMouseEvent' && type !== 'mouseMoved';
  return {
    command: method,
    ...(typeof url === 'string' && /^(?:Page\.navigate|Target\.createTarget)$/.test(method) ? { url } : {}),
    ...(method === 'Input.insertText' && typeof text === 'string' ? { text } : {}),
    ...(method === 'Input.dispatchKeyEvent' && typeof key === 'string' ? { key: key.slice(0, 40) } : {}),
    ...(isMouse && typeof x === 'number' && typeof y === 'number' ? { point: { x, y } } : {}),
  };
}
