// A look at what a program gave, whose getters and proxies may throw: what cannot be read counts as absent. Must pass nothing on, and never throws.

/** What `read` gives; undefined when it throws. */
export const attempt = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

/** What `work` gives; in place of what it throws, the error that `toError` makes of that. */
export const orThrow = <T>(work: () => T, toError: (cause: Error) => Error): T => {
  try {
    return work();
  } catch (cause) {
    throw toError(cause as Error);
  }
};
