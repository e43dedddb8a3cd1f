// Domain-free helpers. Nothing here knows what a task, a browser or a model is.

export { writeFileAtomic } from './atomic-file.ts';
export { createRng, type Rng } from './rng.ts';
