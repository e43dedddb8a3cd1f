// How the command line is called from here, for lines that a person pastes: from a checkout, or installed.

export const PROGRAM = import.meta.url.endsWith('.ts') ? 'npm run tabwright --' : 'tabwright';
