// Whether the caller still wants what it asked for.
import { throwIfAborted } from '../../base/errors/aborted.js';
import { aborted } from '../graph-error.js';
import type { TransportReadOptions } from './transport.js';

/** Throws `AbortedError` when the signal of a read has fired. */
export const checkSignal = (name: string, options: TransportReadOptions | undefined): void =>
  throwIfAborted(options?.signal, `reading ${name}`, aborted);
