// Public fakes of the core interfaces, for tests of loops and runners: no browser, no network, no weights.

export { createFakeClock, type FakeClock } from './fake-clock.ts';
export { createFakeTrainer, type FakeBackendOptions, type FakeTrainer } from './fake-backend.ts';
export { createScriptedSampler, type ScriptedSamplerOptions } from './scripted-sampler.ts';
export type { Table, TabularModelOptions } from './tabular-model.ts';
export {
  countBits,
  createToyCheckboxes,
  TOY_BOXES,
  TOY_SUBMIT,
  toyWanted,
  type ToyCheckboxes,
  type ToyCheckboxesOptions,
  type ToyMoment,
} from './toy-checkboxes.ts';
export { createToyRenderer, toyModel, type ToyRendererOptions } from './toy-policy.ts';
