// A look at what a program gave, whose getters and proxies may throw: what cannot be read counts as absent. Must pass nothing on, and never throws.

/** What `read` gives; undefined when it throws. */
export const attempt = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

/** Whether `value` can be waited for. */
export const isThenable = (value: unknown): value is PromiseLike<unknown> => {
  // Without a closure: it is asked of each call that is traced.
  try {
    return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
  } catch {
    return false;
  }
};
