// A bounded number of calls at a time. After the first failure none may be started, and none may still run when the caller hears of it.

/** Runs `work` for every item, at most `limit` at a time; rejects with the first failure, once all that had started are over. */
export const inParallel = async <T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const failures: unknown[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length && failures.length === 0) {
      try {
        await work(items[next++]);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
};
