// What a live episode of a file's task has that its row presupposes: signed-in states, sites set up, recorded requests.

export { taskFileBegin, type TaskFileBegin, type TaskFileBeginOptions } from './begin-episode.ts';
export { recordNetwork, type NetworkRecorder, type RecordedRequest, type RecorderOptions } from './network-recorder.ts';
export { networkEventsOf } from './recorded-events.ts';
export { applyStorageState, fillMsOf, readStorageState, withoutDatabases, type StorageState } from './storage-state.ts';
