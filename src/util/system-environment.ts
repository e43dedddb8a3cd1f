// The part of the environment that a foreign program needs to run on this machine: programs and libraries, folders,
// fonts, language, display. An allow-list, because what else stands there (keys, tokens, a proxy's password) is
// nobody's business but this process's.

/** Names in capitals; Windows does not tell case apart, and writes e.g. `Path`. */
const NAMES: ReadonlySet<string> = new Set([
  // programs, libraries, folders
  ...['PATH', 'LD_LIBRARY_PATH', 'HOME', 'TMPDIR', 'TMP', 'TEMP', 'USER', 'LOGNAME', 'SHELL'],
  // language and time
  ...['LANG', 'LANGUAGE', 'TZ'],
  // display
  ...['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY'],
  // Chromium's setuid sandbox, where a distribution puts it elsewhere
  'CHROME_DEVEL_SANDBOX',
  // macOS
  '__CF_USER_TEXT_ENCODING',
  // Windows
  ...['SYSTEMROOT', 'SYSTEMDRIVE', 'WINDIR', 'COMSPEC', 'PATHEXT', 'USERPROFILE', 'USERNAME', 'HOMEDRIVE', 'HOMEPATH'],
  ...['APPDATA', 'LOCALAPPDATA', 'PROGRAMDATA', 'ALLUSERSPROFILE', 'PUBLIC'],
  ...['PROGRAMFILES', 'PROGRAMFILES(X86)', 'PROGRAMW6432', 'COMMONPROGRAMFILES', 'COMMONPROGRAMFILES(X86)'],
  ...['NUMBER_OF_PROCESSORS', 'PROCESSOR_ARCHITECTURE', 'OS'],
]);
const PREFIXES = ['LC_', 'XDG_', 'FONTCONFIG_'];

/** The variables of `env` that may be handed to a foreign program. */
export function systemEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => isSystem(name.toUpperCase())));
}

function isSystem(name: string): boolean {
  return NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix));
}
