// What is known about a Chromium before it is started.

/** `headless-shell` can be driven frame by frame (begin-frame mode), `chrome` cannot. */
export type BrowserKind = 'headless-shell' | 'chrome';

export type ChromiumLocation = {
  readonly path: string;
  /** What its name suggests; only a first guess for the launch. */
  readonly likely: BrowserKind;
  /** Variables that the executable needs beside those of `systemEnvironment`. */
  readonly env: Readonly<Record<string, string>>;
};
