// The errors of this library: their base, the one for a wrong option, and the one for work that the caller's own signal ended. Must stay small: the
// recording core loads it, and a module must not invent other words for these cases.

/**
 * An error with a stable `code`. The message names the input and the remedy, `cause` is what lies below.
 *
 * A module has a class of its own where callers are promised one, and narrows the codes by the type parameter.
 */
export class SpanlineError<Code extends string = string> extends Error {
  override readonly name: string = 'SpanlineError';

  constructor(
    readonly code: Code,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A wrong option, named. */
export class OptionError extends SpanlineError<'ERR_SPANLINE_OPTION'> {
  override readonly name = 'OptionError';

  constructor(message: string, options?: ErrorOptions) {
    super('ERR_SPANLINE_OPTION', message, options);
  }
}

/** The error for a sentence without its full stop, as the checks of options make them. */
export const wrongOption = (message: string): OptionError => new OptionError(`${message}.`);

/** Makes the error of a module, with its own class and code. */
export type ToAborted<E extends Error> = (message: string, options: ErrorOptions) => E;

/** The error for `what`, which `signal` ended. */
export const abortedBy = <E extends Error>(signal: AbortSignal | undefined, what: string, toError: ToAborted<E>): E =>
  toError(`${what} was aborted`, { cause: signal?.reason });

/** Throws that error when the signal has fired. */
export const throwIfAborted = (signal: AbortSignal | undefined, what: string, toError: ToAborted<Error>): void => {
  if (signal?.aborted === true) throw abortedBy(signal, what, toError);
};
