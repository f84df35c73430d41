// Ctrl-C as an AbortSignal: the command ends its reads and writes in order. A second Ctrl-C must end the process at once.

/** Run `work` with a signal that SIGINT and SIGTERM abort. */
export const interruptible = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const controller = new AbortController();
  const abort = (name: NodeJS.Signals): void => controller.abort(new Error(`interrupted by ${name}`));
  process.once('SIGINT', abort);
  process.once('SIGTERM', abort);
  try {
    return await work(controller.signal);
  } finally {
    process.off('SIGINT', abort);
    process.off('SIGTERM', abort);
  }
};
