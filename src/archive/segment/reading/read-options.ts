// What callers of a segment can say about a read. Types only.
import type { GraphError } from '../../../container/graph-error.js';
import type { TransportReadOptions } from '../../../container/transport/transport.js';

/** How to read. */
export interface SegmentReadOptions extends TransportReadOptions {
  /**
   * Called for each trace (or group of traces, then without an id) that cannot be read because the file is damaged there; the others are
   * answered. Left out: the first damage is thrown.
   */
  readonly onDamage?: (error: GraphError, traceId: string | undefined) => void;
}
