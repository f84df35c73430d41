// An operation that needs bytes of a file, written once and run either way: it yields the ranges it wants and is given their bytes, by a
// promise or at once. It must not know which.
import type { Container } from '../../container/container.js';
import { checkSignal } from '../../container/transport/check-signal.js';
import type { ByteRange, TransportReadOptions } from '../../container/transport/transport.js';

/** Yields batches of ranges, receives their bytes as stored, ends with its result. */
export type Reading<T> = Generator<readonly ByteRange[], T, Buffer[]>;

export const runReading = async <T>(
  container: Container,
  reading: Reading<T>,
  options?: TransportReadOptions,
): Promise<T> => {
  let step = reading.next();
  while (step.done !== true) {
    checkSignal(container.transport.name, options);
    step = reading.next(await container.readStored(step.value, options));
  }
  return step.value;
};

export const runReadingSync = <T>(container: Container, reading: Reading<T>): T => {
  let step = reading.next();
  while (step.done !== true) step = reading.next(container.readStoredSync(step.value));
  return step.value;
};
