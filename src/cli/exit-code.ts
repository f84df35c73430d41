// What the exit codes of `spanline` mean, and the error a command throws to end with one. Scripts rely on them:
// a code may be added, never given a second meaning.

export const ExitCode = {
  /** Done, and nothing to report. */
  ok: 0,
  /** Done, and the answer is "no": a regression, a difference, a failed check. */
  findings: 1,
  /** The command line was wrong; nothing was done. */
  usage: 2,
  /** A store, file or server could not be read or written. */
  store: 3,
  /** A bug in spanline. */
  internal: 70,
  /** Ended by SIGINT (Ctrl-C) or SIGTERM: 128 and the number of the signal, as shells say it. */
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** Ends the command with `exitCode`; the message is all that a person sees. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  constructor(
    /** Stable, for programs: `ERR_SPANLINE_...`. */
    readonly code: string,
    message: string,
    readonly exitCode: ExitCode,
    readonly options: { readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
  }
}
