// Abort controllers that follow a signal. They must be unlinked when their work is over: the signal may live as long as the process.

/** An abort controller of a piece of work. */
export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** The work is over: follow the parent no longer. */
  unlink(): void;
}

/** A controller that is aborted with its parent, by what `toReason` makes of the parent's reason. */
export const linkedAbort = (
  parent: AbortSignal | undefined,
  toReason: (reason: unknown) => unknown = (reason) => reason,
): LinkedAbort => {
  const controller = new AbortController();
  const follow = (): void => controller.abort(toReason(parent?.reason));
  if (parent?.aborted) follow();
  else parent?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink: () => parent?.removeEventListener('abort', follow),
  };
};
