// Environments: tasks made out of pages.

export * from './click-checkboxes/index.ts';
