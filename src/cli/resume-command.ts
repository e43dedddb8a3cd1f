// The command that goes on with a run that was stopped, as a person would type it. Pure.

export type ResumeCommandOptions = {
  /** Arguments of the command line that was stopped, the command's name first. */
  readonly args: readonly string[];
  /** Its run folder, which the arguments need not name. */
  readonly out: string;
  /** What calls the command line. */
  readonly program: 'tabwright' | 'npm run tabwright --';
};

export function resumeCommand({ args, out, program }: ResumeCommandOptions): string {
  const kept = args.filter(
    (arg, i) =>
      !['--resume', '--overwrite', '--out'].includes(arg) && !arg.startsWith('--out=') && args[i - 1] !== '--out',
  );
  return [program, ...[...kept, '--out', out, '--resume'].map(quoted)].join(' ');
}

/** Safe to paste into a POSIX shell. */
function quoted(arg: string): string {
  return /^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`;
}
