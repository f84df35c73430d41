// What sees every span of a collector, whatever becomes of its trace: the flight recorder, as far as the collector needs it. Called on the recording path:
// no method may throw.
import type { RowChunk } from '../rows/row-chunk.js';
import type { RowObserver } from '../rows/row-store.js';
import type { TraceTable } from '../rows/trace-table.js';
import type { ActiveTrace, EndedRoot, OpenSpans } from '../span/active-trace.js';
import type { TracePart } from './trace-part.js';

export interface TraceObserver extends RowObserver {
  readonly openSpans: OpenSpans;
  /** A root has ended. True: its trace is reported, whatever the sampler and `keep` decide. */
  ended(trace: ActiveTrace, root: EndedRoot): boolean;
  /** These parts are reported now: the moment to add to their roots what only the observer has. */
  reporting(parts: readonly TracePart[]): void;
  /** Nothing of it may be shown to anybody. */
  cancelled(trace: ActiveTrace): void;
  /** A row that was never in the store: of a batch that is mounted in a trace. */
  observeMounted(traces: TraceTable, number: number, chunk: RowChunk, row: number): void;
}
