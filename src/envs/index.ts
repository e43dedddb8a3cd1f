// Environments: tasks made out of pages.

export * from './click-checkboxes/index.ts';
export * from './miniwob/index.ts';
export * from './synthetic-pages/index.ts';
export * from './web-task/index.ts';
export type * from './suite-description.ts';
export type * from './web-suite.ts';
