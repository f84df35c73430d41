// How a command ends: what the exit codes of `spanline` mean, which one an error ends with, the error a command throws to end with one, and Ctrl-C as
// an AbortSignal, by which it ends its reads and writes in order. Scripts rely on the codes: one may be added, never given a second meaning. A second
// Ctrl-C must end the process at once.
import { SpanlineError } from 'spanline/internal/base';

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
    cause?: unknown,
  ) {
    super(code, message, { cause });
  }
}

/** Options or arguments that do not go together, or are wrong in a way that no reader of a single one finds. */
export const wrongUsage = (message: string): CommandError =>
  new CommandError('ERR_SPANLINE_USAGE', message, ExitCode.usage);

/** What was asked for is not there. */
export const notFound = (message: string): CommandError =>
  new CommandError('ERR_SPANLINE_NOT_FOUND', message, ExitCode.findings);

/** What could not be read, written or reached. */
export const failed = (code: string, message: string, cause?: unknown): CommandError =>
  new CommandError(code, message, ExitCode.store, cause);

/** A file that cannot be read. */
export const unreadable = (file: string, cause: unknown): CommandError =>
  failed('ERR_SPANLINE_FILE', `${file} cannot be read: ${(cause as Error).message}`, cause);

/** Errors of the library that are not a failure of a store, an archive, a file or a server. */
const EXIT_CODES: Readonly<Record<string, ExitCode>> = {
  ERR_SPANLINE_NOT_FOUND: ExitCode.findings,
  ERR_SPANLINE_FLIGHT_NOTHING: ExitCode.findings,
  ERR_SPANLINE_FLIGHT_OFF: ExitCode.usage,
  ERR_SPANLINE_INVALID_INPUT: ExitCode.usage,
  ERR_SPANLINE_OPTION: ExitCode.usage,
  ERR_SPANLINE_TABLE_LIMIT: ExitCode.usage,
  ERR_SPANLINE_TRACE_FORMAT: ExitCode.usage,
  ERR_SPANLINE_TRACE_TOO_LARGE: ExitCode.usage,
  ERR_SPANLINE_BUCKET_LOCATION: ExitCode.usage,
  ERR_SPANLINE_BUCKET_NO_CREDENTIALS: ExitCode.usage,
  ERR_SPANLINE_BENCH_OPTION: ExitCode.usage,
  ERR_SPANLINE_PROFILE_OPTION: ExitCode.usage,
  ERR_SPANLINE_GRAPH_BAD_OPTIONS: ExitCode.usage,
  ERR_SPANLINE_GRAPH_BAD_KEY: ExitCode.usage,
  ERR_SPANLINE_GRAPH_BAD_VALUE: ExitCode.usage,
  ERR_SPANLINE_GRAPH_DUPLICATE_KEY: ExitCode.usage,
  ERR_SPANLINE_GRAPH_CYCLE: ExitCode.usage,
};

/** The code that an error ends the command with. Only a bug is internal. */
export const exitCodeOf = (error: unknown): ExitCode => {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof SpanlineError) return EXIT_CODES[error.code] ?? ExitCode.store;
  // The machine refused.
  return (error as NodeJS.ErrnoException | undefined)?.syscall === undefined ? ExitCode.internal : ExitCode.store;
};

const SIGNAL_CODES = { SIGINT: ExitCode.interrupted, SIGTERM: ExitCode.terminated } as const;

/** Calls `interrupted` at the first SIGINT and the first SIGTERM, until the answer is called; a second one ends the process at once. */
export const onInterrupt = (interrupted: (name: NodeJS.Signals) => void): (() => void) => {
  process.once('SIGINT', interrupted);
  process.once('SIGTERM', interrupted);
  return () => {
    process.off('SIGINT', interrupted);
    process.off('SIGTERM', interrupted);
  };
};

/**
 * Runs `work` with an AbortSignal that SIGINT and SIGTERM abort. Aborted work ends the command as the signal would have: with its exit
 * code, and with `hint` after the message.
 */
export const interruptible = async <T>(work: (signal: AbortSignal) => Promise<T>, hint = ''): Promise<T> => {
  const controller = new AbortController();
  const stopListening = onInterrupt((name) => {
    const exitCode = SIGNAL_CODES[name as keyof typeof SIGNAL_CODES];
    controller.abort(new CommandError('ERR_SPANLINE_INTERRUPTED', `interrupted by ${name}${hint}`, exitCode));
  });
  try {
    return await work(controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    stopListening();
  }
};

/** Resolves at Ctrl-C or SIGTERM; a second one ends the process at once. */
export const stopRequested = (): Promise<void> =>
  new Promise((resolve) => {
    const stopListening = onInterrupt(() => {
      stopListening();
      resolve();
    });
  });
