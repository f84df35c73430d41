// Ctrl-C as an AbortSignal: the command ends its reads and writes in order. A second Ctrl-C must end the process at once.
import { CommandError, ExitCode } from './exit-code.js';

const EXIT_CODES = { SIGINT: ExitCode.interrupted, SIGTERM: ExitCode.terminated } as const;

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
    const exitCode = EXIT_CODES[name as keyof typeof EXIT_CODES];
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
export const toldToStop = (): Promise<void> =>
  new Promise((resolve) => {
    const stopListening = onInterrupt(() => {
      stopListening();
      resolve();
    });
  });
