// LocalCollector: collect local spans without a parent, to mount them later under any number of spans.
// It must leave the async context as it found it.
import { Counter, count } from './counters.js';
import { enterLine, leaveLine } from './entered-line.js';
import type { LocalBatch } from './local-batch.js';
import { state } from './process-state.js';
import { type LineMount, SpanLine } from './span-line.js';

/** Local spans one collector keeps: the batches of one collection are bounded like those of a trace. */
export const MAX_DETACHED_SPANS = 1 << 17;

/**
 * Finished local spans without a parent. Mount them with `span.pushChildSpans(localSpans)`, under as many spans as
 * worked together on them, or turn them into records with `toRecords(localSpans)`.
 */
export class LocalSpans {
  /** @internal */
  constructor(readonly batches: readonly LocalBatch[]) {}

  /** How many spans there are. */
  get count(): number {
    return this.batches.reduce((sum, batch) => sum + batch.count, 0);
  }
}

class DetachedMount implements LineMount {
  readonly batches: LocalBatch[] = [];
  readonly isSpan = false;
  readonly isDiscarded = false;
  readonly idHi = 0;
  readonly idLo = 0;
  localSpanRoom = MAX_DETACHED_SPANS;

  mountBatch(batch: LocalBatch): void {
    this.localSpanRoom -= batch.count;
    this.batches.push(batch);
  }

  refusedLocalSpan(): void {
    count(Counter.localSpansOverCap);
  }

  addProperty(): void {}
  addEvent(): void {}
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
  private constructor(
    private line: SpanLine | null,
    private readonly mount: DetachedMount,
    private readonly outer: SpanLine | undefined,
  ) {}

  /** Start collecting: local spans from here to {@link collect} go to this collector. */
  static start(): LocalCollector {
    const mount = new DetachedMount();
    if (!state.enabled) return new LocalCollector(null, mount, undefined);
    const line = new SpanLine(mount, true);
    return new LocalCollector(line, mount, enterLine(line));
  }

  /** Collect around one function: its result and the local spans it made. */
  static run<T>(fn: () => T): [T, LocalSpans] {
    const collector = LocalCollector.start();
    try {
      const result = fn();
      return [result, collector.collect()];
    } finally {
      collector[Symbol.dispose]();
    }
  }

  /** Stop collecting, and take what was collected. A second call returns nothing more. */
  collect(): LocalSpans {
    this[Symbol.dispose]();
    return new LocalSpans(this.mount.batches.splice(0));
  }

  [Symbol.dispose](): void {
    const { line } = this;
    if (line === null) return;
    this.line = null;
    leaveLine(line, this.outer);
  }
}
