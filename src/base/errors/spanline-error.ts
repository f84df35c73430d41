// The base of every error that this library throws. It must stay small: the recording core loads it.

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
