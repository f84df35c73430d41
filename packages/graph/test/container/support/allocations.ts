// How much memory a call asks for, whether it touches it or not: every buffer, those of zlib included.

/** What was asked for. */
export interface Allocations {
  /** Bytes of the largest buffer. */
  readonly largest: number;
  /** Bytes of all buffers, those that were let go included. */
  readonly total: number;
}

const METHODS = ['alloc', 'allocUnsafe', 'allocUnsafeSlow'] as const;

/** The buffers that `call`, which answers at once, asks for. */
export const allocationsOf = (call: () => void): Allocations => {
  const originals = METHODS.map((method) => Buffer[method]);
  const { stackTraceLimit } = Error;
  let largest = 0;
  let total = 0;
  // The map of a source, which vitest reads for the first stack of it, is a buffer too.
  Error.stackTraceLimit = 0;
  METHODS.forEach((method, i) => {
    // biome-ignore lint/suspicious/noExplicitAny: the three differ in what follows the size.
    Buffer[method] = (size: number, ...rest: any[]) => {
      largest = Math.max(largest, size);
      total += size;
      return (originals[i] as (size: number, ...rest: unknown[]) => Buffer<ArrayBuffer>).call(Buffer, size, ...rest);
    };
  });
  try {
    call();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    METHODS.forEach((method, i) => {
      Buffer[method] = originals[i] as never;
    });
  }
  return { largest, total };
};
