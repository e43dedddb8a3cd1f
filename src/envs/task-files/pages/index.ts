// Pages for graders: frozen, and read apart from the page that was frozen.

export { freezePage, type FrozenPage } from './frozen-page.ts';
export { freezeAt } from './open-own-page.ts';
export { readFrozen, type FrozenRead, type ReadOptions } from './read-frozen.ts';
