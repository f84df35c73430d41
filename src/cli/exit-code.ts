// What the exit codes of `spanline` mean, and the error a command throws to end with one. Scripts rely on them:
// a code may be added, never given a second meaning.
import { SpanlineError } from '../base/errors/spanline-error.js';

export const ExitCode = {
  /** Done, and nothing to report. */
  ok: 0,
  /** Done, and the answer is one to act on: a check found something, or what was asked for is not there. */
  findings: 1,
  /** The command line, a query, a config or what a file brings is wrong as written; nothing of it was done. */
  usage: 2,
  /** A store, an archive, a file or a server could not be read, written or reached. */
  store: 3,
  /** A bug in spanline. */
  internal: 70,
  /** Ended by SIGINT (Ctrl-C) or SIGTERM: 128 and the number of the signal, as shells say it. */
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** End with this code once the command is done, unless a higher one is due: of several the gravest counts. */
export const endWith = (code: ExitCode): void => {
  process.exitCode = Math.max(Number(process.exitCode ?? ExitCode.ok), code);
};

/** Ends the command with `exitCode`; the message is all that a person sees. */
export class CommandError extends SpanlineError {
  override readonly name = 'CommandError';
  constructor(
    code: string,
    message: string,
    readonly exitCode: ExitCode,
    readonly options: { readonly cause?: unknown } = {},
  ) {
    super(code, message, { cause: options.cause });
  }
}
