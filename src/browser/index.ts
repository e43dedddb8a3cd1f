// Chromium processes, pages, what an agent sees of them and how it touches them.

export type { Browser, NewPageOptions, Viewport } from './browser.ts';
export type { CdpConnection, CdpMessage, CdpMethod, CdpParams, CdpResult, CdpSession } from './cdp.ts';
export type { FrameMode } from './frames.ts';
export { launchBrowser, type BrowserJail, type ChromiumCommand, type LaunchOptions } from './launch.ts';
export { locateChromium, type LocateOptions } from './locate.ts';
export type { BrowserKind, ChromiumLocation } from './location.ts';
export {
  CONTROL_ROLES,
  observePage,
  plainName,
  shortName,
  statesOf,
  type Control,
  type ObservationOptions,
  type ObservationStyle,
  type PageObservation,
} from './observation.ts';
export { openPage, type OpenPageOptions } from './open-page.ts';
export type { AxNode, ClickResult, Page, PageCallOptions } from './page.ts';
export { createPagePool, type PageLease, type PagePool, type PagePoolOptions } from './page-pool.ts';
export { quote } from './quote.ts';
export { connectRemoteCdp, type RemoteCdpOptions } from './remote-cdp.ts';
export { createReferences, type References } from './references.ts';
