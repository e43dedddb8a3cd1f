// Domain-free helpers. Nothing here knows what a task, a browser or a model is.

export { abortable, linkedController, onAbort } from './abort.ts';
export { writeFileAtomic } from './atomic-file.ts';
export { childEntry, runEntry, type ChildEntry } from './child-entry.ts';
export { sleep, withDeadline, type DeadlineOptions } from './deadline.ts';
export { compact, duration, percent, percentRange, points, pointsRange, pValue } from './format.ts';
export { makeFolder } from './make-folder.ts';
export { isProcessAlive } from './process-alive.ts';
export { createRng, type Rng } from './rng.ts';
export { createSemaphore, type Semaphore } from './semaphore.ts';
export { spawnOwned, type OwnedProcess, type OwnedProcessOptions, type ProcessEnd } from './subprocess.ts';
export { systemEnvironment } from './system-environment.ts';
