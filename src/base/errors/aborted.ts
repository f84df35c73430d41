// The one error for work that the caller's own signal ended: a message that names the work, the signal's reason as the cause, and the
// error of the module that was asked. A module must not invent other words for it.

/** Makes the error of a module, with its own class and code. */
export type ToAborted<E extends Error> = (message: string, options: ErrorOptions) => E;

/** The error for `what`, which `signal` ended. */
export const abortedBy = <E extends Error>(signal: AbortSignal | undefined, what: string, toError: ToAborted<E>): E =>
  toError(`${what} was aborted`, { cause: signal?.reason });

/** Throws that error when the signal has fired. */
export const throwIfAborted = (signal: AbortSignal | undefined, what: string, toError: ToAborted<Error>): void => {
  if (signal?.aborted === true) throw abortedBy(signal, what, toError);
};
