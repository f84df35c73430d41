// Several streams read at once, in whatever order their batches come. It must hold at most one batch of each open stream, and
// end every open one when the first fails or the reader stops.
import { onAbort } from 'spanline/internal/base';
import type { CallDeadline } from '../params/call-deadline.js';
import type { ReadOptions, Row, WideColumnTable } from '../table/wide-column-table.js';
import { GOLD_SHARDS } from './gold-keys.js';

type Pull<T> = (signal: AbortSignal) => AsyncIterable<T>;

/** What came of the next pull of a stream. */
interface Arrival<T> {
  readonly iterator: AsyncIterator<T>;
  readonly result: Promise<IteratorResult<T>>;
}

/**
 * What all streams give, `limit` of them open at a time; the next one is opened when one ends. Each is given a signal that fires
 * when `signal` does, when another stream fails, and when the reader stops.
 */
export async function* mergeStreams<T>(
  streams: readonly Pull<T>[],
  limit: number,
  signal?: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted === true) abort();
  const unlink = onAbort(signal, abort);
  const open = new Set<AsyncIterator<T>>();
  const arrivals: Arrival<T>[] = [];
  let wake = (): void => {};
  let opened = 0;
  // One pull in flight a stream: what has arrived and what is on its way are never more than `limit` batches.
  const pull = (iterator: AsyncIterator<T>): void => {
    const result = iterator.next();
    const arrive = (): void => {
      arrivals.push({ iterator, result });
      wake();
    };
    result.then(arrive, arrive);
  };
  const openNext = (): void => {
    const iterator = streams[opened++](controller.signal)[Symbol.asyncIterator]();
    open.add(iterator);
    pull(iterator);
  };

  try {
    while (opened < streams.length && open.size < limit) openNext();
    while (open.size > 0) {
      if (arrivals.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const { iterator, result } = arrivals.shift() as Arrival<T>;
      // Out while it is asked, for one that failed is over.
      open.delete(iterator);
      const { done, value } = await result;
      if (done === true) {
        if (opened < streams.length) openNext();
        continue;
      }
      open.add(iterator);
      yield value;
      pull(iterator);
    }
  } finally {
    unlink();
    controller.abort();
    // Their errors are the echo of this abort; the first error is already on its way.
    await Promise.allSettled([...open].map((iterator) => iterator.return?.()));
  }
}

/** The rows of all shards behind the prefix that each has, `limit` shards at a time. */
export const readShards = (
  table: WideColumnTable,
  prefixOf: (shard: string) => string,
  read: ReadOptions,
  limit: number,
  deadline: CallDeadline,
): AsyncGenerator<readonly Row[], void, undefined> => {
  const streams = GOLD_SHARDS.map(
    (shard) => (signal: AbortSignal) =>
      table.readRows({ prefix: prefixOf(shard) }, { ...deadline.next(), signal, ...read }),
  );
  return mergeStreams(streams, limit, deadline.signal);
};
