// A look at what a program gave, whose getters and proxies may throw: what cannot be read counts as absent. Must pass nothing on, and never throws. And what is
// said to a program by a warning of its process.

/** What `read` gives; undefined when it throws. */
export const attempt = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

/** Warns once a call, by Node's warnings, which programs and their replacements of `emitWarning` must not make a failure. */
export const warn = (message: string, code: string): void => {
  attempt(() => process.emitWarning(message, { type: 'SpanlineWarning', code }));
};

/** What `work` gives; in place of what it throws, the error that `toError` makes of that. */
export const orThrow = <T>(work: () => T, toError: (cause: Error) => Error): T => {
  try {
    return work();
  } catch (cause) {
    throw toError(cause as Error);
  }
};
