// LocalCollector: collect local spans without a parent, to mount them later under any number of spans.
// It must leave the async context as it found it.

import { state, type TaskQueue } from '../context/process-state.js';
import { Counter, count, countMany, wrongArgument } from '../rows/counters.js';
import { nameText } from '../rows/property.js';
import { CHUNK_ROWS, Flag, NO_SLOT, RowChunk } from '../rows/row-chunk.js';
import { internName } from '../rows/row-text.js';
import { LocalSpan, type QueueMount, SpanQueue } from './local-span.js';
import { enterQueue, leaveQueue } from './task-context.js';

// Most collections are small.
const FIRST_ROWS = 32;

// What the objects of a chunk take on the heap, by estimate.
const CHUNK_OBJECTS = 2048;

/**
 * Finished local spans without a trace: rows of their own, closed under parents, left to the garbage collector. It may be mounted under several spans, and is
 * never changed once it was handed over.
 */
export class LocalBatch {
  readonly chunks: RowChunk[] = [];
  count = 0;

  /** Add a local span that has ended. A span without a parent here has the parent id 0, and is a top one. */
  add(span: LocalSpan, end: number): void {
    const name = internName(span.name);
    // May run code of the program, which may add further spans.
    const text = name === 0 ? nameText(span.name) : null;
    let chunk = this.chunks.at(-1);
    if (chunk === undefined || chunk.isFull) {
      chunk = new RowChunk(Math.min(CHUNK_ROWS, Math.max(FIRST_ROWS, this.count)));
      this.chunks.push(chunk);
    }
    const { outer } = span;
    chunk.entries.writeDetails(span, text, null);
    chunk.add(span, outer?.idHi ?? 0, outer?.idLo ?? 0, NO_SLOT, name, Flag.local, end);
    this.count++;
  }

  /** Bytes held: its chunks are its own, however few rows they have. */
  get byteSize(): number {
    return this.chunks.reduce((sum, { byteSize }) => sum + byteSize + CHUNK_OBJECTS, 0);
  }

  /** The `n` spans that started first, which have the parents of all of them. */
  first(n: number): { readonly chunk: RowChunk; readonly row: number }[] {
    const rows = this.chunks.flatMap((chunk) => Array.from({ length: chunk.count }, (_, row) => ({ chunk, row })));
    if (n >= rows.length) return rows;
    const start = ({ chunk, row }: (typeof rows)[number]): number => chunk.begins[row];
    const id = ({ chunk, row }: (typeof rows)[number]): number => chunk.idLos[row];
    return rows.sort((a, b) => start(a) - start(b) || id(a) - id(b)).slice(0, n);
  }
}

/** Local spans one collector keeps: the batches of one collection are bounded like those of a trace. */
export const MAX_DETACHED_SPANS = 1 << 17;

/** What local spans can be mounted under; a span. */
interface Mounting {
  mountShared(batch: LocalBatch): void;
}

/**
 * Finished local spans without a parent. Mount them with `span.pushChildSpans(localSpans)`, under as many spans as
 * worked together on them, or turn them into records with `toRecords(localSpans)`.
 *
 * Code that goes on after the collection (behind an `await`, in a timer) adds its spans here when they end, and under
 * every span they are mounted under.
 */
export class LocalSpans {
  /** @internal */
  readonly batches: LocalBatch[] = [];
  private readonly mountedUnder = new Set<Mounting>();

  /** @internal */
  add(batch: LocalBatch): void {
    this.batches.push(batch);
    for (const span of this.mountedUnder) span.mountShared(batch);
  }

  /** @internal Mount what is here and what comes. */
  mountUnder(span: Mounting): void {
    for (const batch of this.batches) span.mountShared(batch);
    this.mountedUnder.add(span);
  }

  /** How many spans there are. */
  get count(): number {
    return this.batches.reduce((sum, batch) => sum + batch.count, 0);
  }
}

class DetachedMount implements QueueMount {
  readonly spans = new LocalSpans();
  readonly isSpan = false;
  readonly isDiscarded = false;
  readonly idHi = 0;
  readonly idLo = 0;
  private spansLeft = MAX_DETACHED_SPANS;
  private batch = new LocalBatch();
  private open = 0;

  startLocal(queue: SpanQueue, name: string, outer: LocalSpan | null): LocalSpan | null {
    if (this.spansLeft === 0) {
      count(Counter.localSpansOverCap);
      return null;
    }
    this.spansLeft--;
    this.open++;
    return new LocalSpan(queue, name, outer);
  }

  addLocal(span: LocalSpan, endTicks: number): void {
    this.batch.add(span, endTicks);
    this.open--;
  }

  // A batch has the parents of all its spans.
  closeBatch(): void {
    if (this.open > 0 || this.batch.count === 0) return;
    this.spans.add(this.batch);
    this.batch = new LocalBatch();
  }

  addProperty(): void {
    count(Counter.localSpansWithoutParent);
  }

  addEvent(): void {
    count(Counter.localSpansWithoutParent);
  }
}

/**
 * Collects the local spans of a synchronous stretch, apart from any trace.
 *
 * Use it for work done once on behalf of many traces (a group commit, a batched read).
 *
 * @example
 * ```ts
 * const requests = [Span.root('request 1'), Span.root('request 2')];
 * const collector = LocalCollector.start();
 * LocalSpan.start('write log').end();
 * const spans = collector.collect();
 * for (const request of requests) request.pushChildSpans(spans).end();
 * ```
 */
export class LocalCollector implements Disposable {
  private isCollected = false;

  private constructor(
    private queue: SpanQueue | null,
    private readonly mount: DetachedMount,
    private readonly outer: TaskQueue | undefined,
  ) {}

  /** Start collecting: local spans from here to {@link collect} go to this collector. */
  static start(): LocalCollector {
    const mount = new DetachedMount();
    if (!state.enabled) return new LocalCollector(null, mount, undefined);
    const queue = new SpanQueue(mount, true);
    return new LocalCollector(queue, mount, enterQueue(queue));
  }

  /**
   * Collect around one function: its result and the local spans it made. Of an async function the result is its promise,
   * and the spans are all there when that has settled.
   */
  static run<T>(fn: () => T): [T, LocalSpans] {
    if (typeof fn !== 'function') {
      wrongArgument('LocalCollector.run takes a function: LocalCollector.run(() => work()).');
      return [fn, new LocalSpans()];
    }
    const collector = LocalCollector.start();
    let result: T;
    try {
      result = fn();
    } catch (error) {
      // The caller has no way to them.
      countMany(Counter.localSpansWithoutParent, collector.collect().count);
      throw error;
    }
    return [result, collector.collect()];
  }

  /** Stop collecting, and take what was collected. A second call returns nothing more. */
  collect(): LocalSpans {
    this[Symbol.dispose]();
    if (this.isCollected) return new LocalSpans();
    this.isCollected = true;
    return this.mount.spans;
  }

  [Symbol.dispose](): void {
    const { queue } = this;
    if (queue === null) return;
    this.queue = null;
    leaveQueue(queue, this.outer);
  }
}
