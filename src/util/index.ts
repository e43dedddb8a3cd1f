// Domain-free helpers. Nothing here knows what a task, a browser or a model is.

export { createRng, type Rng } from './rng.ts';
