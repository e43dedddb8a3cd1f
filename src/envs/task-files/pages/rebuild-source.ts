// A program for a page of the host's own, as text: it builds a frozen page there, node by node, and reads from it. Text,
// because it runs in Chromium and must be what is written here, whatever the compiler does to functions.
//
// Scripts and handlers of the frozen page do not run (the host has switched scripts off in that page), nothing is
// fetched (it is offline), and an element that the page showed otherwise than plain HTML would is given those styles.

import { STYLES } from './frozen-page.ts';

export const REBUILD_SOURCE = `(nodes) => {
  const NAMES = ${JSON.stringify(STYLES)};
  const SVG = 'http://www.w3.org/2000/svg';
  const MATH = 'http://www.w3.org/1998/Math/MathML';
  while (document.firstChild) document.firstChild.remove();
  const made = [];
  const shown = [];
  const fields = [];
  for (const node of nodes) {
    const parent = node.parent === -1 ? undefined : made[node.parent];
    let own;
    if (node.type === 9) own = document;
    else if (parent === undefined || parent === null) own = null;
    else if (node.type === 3) own = document.createTextNode(node.value);
    else if (node.type === 8) own = document.createComment(node.value);
    else if (node.type === 1) {
      const within = parent.namespaceURI === SVG && parent.localName !== 'foreignObject' ? SVG
        : parent.namespaceURI === MATH ? MATH : undefined;
      const tag = node.name.toLowerCase();
      const space = tag === 'svg' ? SVG : tag === 'math' ? MATH : within;
      try {
        own = space === undefined ? document.createElement(tag) : document.createElementNS(space, node.name);
      } catch {
        own = document.createElement('unknown-element');
      }
      for (const [name, value] of node.attributes) {
        try { own.setAttribute(name, value); } catch { /* names that only a parser makes */ }
      }
    } else if (node.type === 11 && parent.attachShadow) {
      try { own = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' }); } catch { own = null; }
      made.push(own);
      continue;
    } else own = null;
    made.push(own);
    if (own === null) continue;
    if (parent !== undefined) {
      try { parent.appendChild(own); } catch { made[made.length - 1] = null; continue; }
    }
    if (node.styles !== undefined && node.type === 1) shown.push([own, node.styles]);
    else if (node.type === 1) shown.push([own, undefined]);
    if (node.typed !== undefined || node.checked || node.selected || own.localName === 'option' || own.localName === 'input') fields.push([own, node]);
  }
  const source = document.documentElement === null ? '' : document.documentElement.outerHTML;
  for (const [own, node] of fields) {
    if (node.typed !== undefined && own.type !== 'file') own.value = node.typed;
    if ('checked' in own) own.checked = node.checked === true;
    if (own.localName === 'option') own.selected = node.selected === true;
  }
  for (const [own, styles] of shown) {
    const now = getComputedStyle(own);
    if (styles === undefined) {
      // Not shown there: hidden, or within what is hidden.
      const above = own.parentElement;
      const aboveShown = above === null || getComputedStyle(above).display !== 'none';
      if (aboveShown && now.display !== 'none' && now.display !== 'contents' && own.closest('head') === null
        && own.localName !== 'option' && own.localName !== 'optgroup') own.style.setProperty('display', 'none', 'important');
      continue;
    }
    NAMES.forEach((name, i) => {
      if (styles[i] !== '' && now.getPropertyValue(name) !== styles[i]) own.style.setProperty(name, styles[i], 'important');
    });
  }
  return source;
}`;
