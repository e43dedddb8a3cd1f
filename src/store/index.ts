// Run folders: everything that a run leaves behind, readable by any tool, resumable after any crash.

export { configDifferences, describeDifferences, type ConfigDifference } from './config-difference.ts';
export { createRun, resumeRun, type CreateRunOptions, type ResumeRunOptions, type RunFolder } from './run-folder.ts';
export { readRun, type ReadonlyRunFolder } from './run-reader.ts';
export type { CheckpointRecord, MetricsRow, RunEvent } from './records.ts';
export { parseWith, readVersioned, stamp, type VersionedFormat } from './versioned.ts';
export { trajectorySchema } from './trajectory-schema.ts';
