// Whether the caller still wants what it asked for.
import { AbortedError } from '../graph-error.js';
import type { TransportReadOptions } from './transport.js';

/** Throws `AbortedError` when the signal of a read has fired. */
export const checkSignal = (name: string, options: TransportReadOptions | undefined): void => {
  if (options?.signal?.aborted) throw new AbortedError(`reading ${name} was aborted`, { cause: options.signal.reason });
};
