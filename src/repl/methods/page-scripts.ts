// Functions that run inside pages, as text: a compiler may not touch what is sent to a browser. They run in a world of
// their own where the page's changes to built-ins do not reach. `this` is an element.

/** Shared beginnings: what is visible, what is disabled, what lies under a point. */
const COMMON = `
  const element = (node) => (node && node.nodeType === 1 ? node : node?.parentElement ?? null);
  const isVisible = (el) => {
    if (!el.isConnected || getComputedStyle(el).visibility !== 'visible') return false;
    return [...el.getClientRects()].some((box) => box.width > 0 && box.height > 0);
  };
  const isDisabled = (el) => el.matches(':disabled') || el.getAttribute('aria-disabled')?.toLowerCase() === 'true';
  const isEditable = (el) => {
    if (el.isContentEditable || el.localName === 'textarea') return !el.readOnly;
    const others = ['button', 'checkbox', 'color', 'file', 'hidden', 'image', 'radio', 'range', 'reset', 'submit'];
    return el.localName === 'input' && !others.includes(el.type) && !el.readOnly;
  };
  const parentOf = (node) => node.assignedSlot ?? node.parentNode ?? node.host ?? null;
  const holds = (el, node) => {
    for (let at = node; at; at = parentOf(at)) if (at === el) return true;
    return false;
  };
  // From the element's own tree outwards: in each tree the topmost thing has to be it, or what hosts it.
  const isHit = (el, x, y) => {
    for (let inner = el; ; ) {
      const root = inner.getRootNode();
      const hit = root.elementFromPoint(x, y);
      if (!hit || !holds(inner, hit)) return false;
      if (!root.host) return true;
      inner = root.host;
    }
  };
`;

/** The one visible element of a selector; else how many there are. Nothing at all: -1. */
export const PICK = `(selector) => {
  ${COMMON}
  const all = [...document.querySelectorAll(selector)];
  const visible = all.filter(isVisible);
  return visible.length === 1 ? visible[0] : visible.length === 0 && all.length === 0 ? -1 : visible.length;
}`;

export const FIRST = `(selector) => document.querySelector(selector)`;

/**
 * Scrolls to the element and says whether it can be acted on: \`{ status }\`, and when it is \`ready\` also the middle of
 * the part that is on screen, in the frame's own coordinates.
 */
export const READY = `async function (editable) {
  ${COMMON}
  const el = element(this);
  if (!el || !el.isConnected) return { status: 'not found' };
  if (!isVisible(el)) return { status: 'not visible' };
  if (isDisabled(el)) return { status: 'disabled' };
  if (editable && !isEditable(el)) return { status: 'not editable' };
  el.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  // A page in the background draws no frames; it gets a tick of the clock instead.
  const frame = () => new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 200); });
  const box = () => el.getBoundingClientRect();
  await frame();
  const before = box();
  await frame();
  const after = box();
  const moved = ['x', 'y', 'width', 'height'].some((side) => Math.abs(before[side] - after[side]) >= 0.25);
  if (moved) return { status: 'moving' };
  const view = el.ownerDocument.defaultView; // not always this one: nodes of frames are asked from outside
  for (const part of [...el.getClientRects()]) {
    const left = Math.max(part.left, 0), right = Math.min(part.right, view.innerWidth);
    const top = Math.max(part.top, 0), bottom = Math.min(part.bottom, view.innerHeight);
    if (right <= left || bottom <= top) continue;
    const x = (left + right) / 2, y = (top + bottom) / 2;
    return isHit(el, x, y) ? { status: 'ready', x, y, left: after.left, top: after.top } : { status: 'intercepted' };
  }
  return { status: 'outside viewport' };
}`;

/** States of everything that a selector matches: \`{ attached, visible }\`. */
export const COUNT = `(selector) => {
  ${COMMON}
  const all = [...document.querySelectorAll(selector)];
  return { attached: all.length, visible: all.filter(isVisible).length };
}`;

export const STATE = `function () {
  ${COMMON}
  const el = element(this);
  const attached = el?.isConnected ? 1 : 0;
  return { attached, visible: attached && isVisible(el) ? 1 : 0 };
}`;

export const FOCUS = `function () { const el = this.nodeType === 1 ? this : this.parentElement; el.focus(); }`;

export const CHANGED = `function () {
  const el = this.nodeType === 1 ? this : this.parentElement;
  for (const type of ['input', 'change']) el.dispatchEvent(new Event(type, { bubbles: true }));
}`;

export const PAGE_INFO = `(() => {
  const root = document.documentElement;
  return {
    url: location.href,
    title: document.title,
    viewport: { width: innerWidth, height: innerHeight },
    scroll: { x: scrollX, y: scrollY },
    page: { width: root?.scrollWidth ?? 0, height: root?.scrollHeight ?? 0 },
    ready_state: document.readyState,
  };
})()`;
