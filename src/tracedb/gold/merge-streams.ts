// Several streams read at once, in whatever order their batches come. It must hold at most one batch of each open stream, and
// end every open one when the first fails or the reader stops.

type Pull<T> = (signal: AbortSignal) => AsyncIterable<T>;

interface Source<T> {
  readonly iterator: AsyncIterator<T>;
}

type Arrival<T> =
  | { readonly source: Source<T>; readonly result: IteratorResult<T> }
  | { readonly source: Source<T>; readonly error: unknown };

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
  signal?.addEventListener('abort', abort, { once: true });
  const open = new Set<Source<T>>();
  const arrivals: Arrival<T>[] = [];
  let wake: (() => void) | undefined;
  let opened = 0;

  const arrive = (arrival: Arrival<T>): void => {
    arrivals.push(arrival);
    wake?.();
  };
  // One pull in flight a source: what has arrived and what is on its way are never more than `limit` batches.
  const pull = (source: Source<T>): void => {
    source.iterator.next().then(
      (result) => arrive({ source, result }),
      (error: unknown) => arrive({ source, error }),
    );
  };
  const openNext = (): void => {
    const source: Source<T> = { iterator: streams[opened++](controller.signal)[Symbol.asyncIterator]() };
    open.add(source);
    pull(source);
  };

  try {
    while (opened < streams.length && open.size < limit) openNext();
    while (open.size > 0) {
      if (arrivals.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const arrival = arrivals.shift() as Arrival<T>;
      if ('error' in arrival) {
        open.delete(arrival.source);
        throw arrival.error;
      }
      if (arrival.result.done === true) {
        open.delete(arrival.source);
        if (opened < streams.length) openNext();
        continue;
      }
      yield arrival.result.value;
      pull(arrival.source);
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    controller.abort();
    // Their errors are the echo of this abort; the first error is already on its way.
    await Promise.allSettled([...open].map(({ iterator }) => iterator.return?.()));
  }
}
