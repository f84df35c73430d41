// Stretches in which the function given to `span.run` had the event loop, up to its first await: its owner is known without a look. Only
// those of a millisecond and more, the newest, bounded. Called on the way out of user code: must not throw, nor keep a span alive.
import type { SpanQueue } from '../../local-span/span-queue.js';
import type { Span } from '../../span/span.js';
import { noOwner, type Owner, readOwner, spanIdOf, traceIdOf } from './queue-owner.js';
import type { TimelineRow } from './timeline-row.js';
import { unixNow } from './timeline-source.js';

interface Run {
  startUs: number;
  endUs: number;
  readonly owner: Owner;
}

export class RunRing {
  readonly #runs: Run[] = [];
  readonly #maxRuns: number;
  #written = 0;
  #droppedUs = Number.NEGATIVE_INFINITY;

  constructor(maxRuns: number) {
    this.#maxRuns = maxRuns;
  }

  get count(): number {
    return this.#runs.length;
  }

  /** Those that later ones have taken the place of. */
  get dropped(): number {
    return this.#written - this.#runs.length;
  }

  /** Unix time in microseconds from which on none is missing. */
  get keptFromUs(): number {
    return this.#droppedUs;
  }

  /** The work on `queue` has just ended, `ns` nanoseconds after its start. One that does not record is nobody's. */
  add(queue: SpanQueue, ns: number): void {
    if (!queue.mount.isSpan || (queue.mount as Span).trace === null) return;
    const place = this.#written % this.#maxRuns;
    const run = this.#runs[place] ?? { startUs: 0, endUs: 0, owner: noOwner() };
    if (this.#written >= this.#maxRuns) this.#droppedUs = run.endUs;
    readOwner(queue, run.owner);
    run.owner.mount = null;
    run.endUs = unixNow();
    run.startUs = run.endUs - ns / 1000;
    this.#runs[place] = run;
    this.#written++;
  }

  /** Those that end after `sinceUs`, the newest first. */
  rows(sinceUs: number): TimelineRow[] {
    const rows: TimelineRow[] = [];
    for (let i = this.#written - 1; i >= this.dropped; i--) {
      const { startUs, endUs, owner } = this.#runs[i % this.#maxRuns];
      if (endUs <= sinceUs) break;
      const part = { startUs, endUs, traceId: traceIdOf(owner), spanId: spanIdOf(owner), name: owner.name, frames: [] };
      rows.push({ kind: 'run', startUs, endUs, detail: '', parts: [part] });
    }
    return rows;
  }
}
