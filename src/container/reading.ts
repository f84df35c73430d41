// An operation that needs bytes of a container, written once and run either way: it yields what it wants and is given the bytes, by a
// promise or at once. It must not know which, and cannot catch what a read throws.
import type { BlockRef, Container } from './container.js';
import { type ByteRange, checkSignal, type TransportReadOptions } from './transport/transport.js';

/** Yields batches of blocks, is resumed with their bytes, returns its result. */
export type Reading<T> = Generator<readonly BlockRef[], T, readonly Buffer[]>;

/** Run a reading over any transport. */
export const runReading = async <T>(
  reading: Reading<T>,
  container: Container,
  options?: TransportReadOptions,
): Promise<T> => {
  let step = reading.next();
  while (step.done !== true) step = reading.next(await container.readBlocks(step.value, options));
  return step.value;
};

/** The same over a local file, at once. */
export const runReadingSync = <T>(reading: Reading<T>, container: Container): T => {
  let step = reading.next();
  while (step.done !== true) step = reading.next(container.readBlocksSync(step.value));
  return step.value;
};

/** Yields batches of ranges and is given their bytes as stored, unchecked. */
export type RangeReading<T> = Generator<readonly ByteRange[], T, readonly Buffer[]>;

/** Run a reading of ranges over any transport. */
export const runRangeReading = async <T>(
  reading: RangeReading<T>,
  container: Container,
  options?: TransportReadOptions,
): Promise<T> => {
  let step = reading.next();
  while (step.done !== true) {
    checkSignal(container.transport.name, options);
    step = reading.next(await container.readStored(step.value, options));
  }
  return step.value;
};

/** The same over a local file, at once. */
export const runRangeReadingSync = <T>(reading: RangeReading<T>, container: Container): T => {
  let step = reading.next();
  while (step.done !== true) step = reading.next(container.readStoredSync(step.value));
  return step.value;
};
