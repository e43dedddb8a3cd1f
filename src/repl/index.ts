// The Browser REPL: cells of JavaScript in a process that drives a browser, both in a jail.

export { BROWSER_LIMITS, launchJailedBrowser, type JailedBrowserOptions } from './jailed-browser.ts';
