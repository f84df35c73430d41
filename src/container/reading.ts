// One piece of code for reading at once and reading later: a reading yields the blocks it needs and is given their bytes, by a driver
// that waits or by one that does not.
import type { BlockRef, Container } from './container.js';
import type { TransportReadOptions } from './transport/transport.js';

/** Yields batches of blocks, is resumed with their bytes, returns its result. */
export type Reading<T> = Generator<readonly BlockRef[], T, readonly Buffer[]>;

/** Run a reading over any transport. */
export const runReading = async <T>(
  reading: Reading<T>,
  container: Container,
  options?: TransportReadOptions,
): Promise<T> => {
  let step = reading.next();
  while (!step.done) {
    let bytes: readonly Buffer[];
    try {
      bytes = await container.readBlocks(step.value, options);
    } catch (error) {
      step = reading.throw(error);
      continue;
    }
    step = reading.next(bytes);
  }
  return step.value;
};

/** Run a reading over a local file, at once. */
export const runReadingSync = <T>(reading: Reading<T>, container: Container): T => {
  let step = reading.next();
  while (!step.done) {
    let bytes: readonly Buffer[];
    try {
      bytes = container.readBlocksSync(step.value);
    } catch (error) {
      step = reading.throw(error);
      continue;
    }
    step = reading.next(bytes);
  }
  return step.value;
};
