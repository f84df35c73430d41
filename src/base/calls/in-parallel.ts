// A bounded number of calls at a time. After the first failure it must start no further one, and it must not leave while one still runs: a
// call that goes on behind the caller's back could write after a close.

/** Runs `work` for every item, at most `limit` at a time; rejects with the first error once all that had started are over. */
export const inParallel = async <T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const iterator = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    while (failures.length === 0) {
      const next = iterator.next();
      if (next.done === true) return;
      try {
        await work(next.value);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: limit }, worker));
  if (failures.length > 0) throw failures[0];
};

/** The parts of `list`, each of `size` or, the last one, fewer. */
export const chunks = function* <T>(list: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < list.length; from += size) yield list.slice(from, from + size);
};
