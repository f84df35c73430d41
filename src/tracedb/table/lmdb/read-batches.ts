// One read of an LMDB table, batch by batch, all from one snapshot. However it ends (its end, a `break`, an abort, a deadline, the
// closing of the table) the snapshot must be let go, and an end that came too early must be an error.
import { CallGuard } from '../call-guard.js';
import type { TableCounters } from '../checked-table.js';
import { checkRowLimit } from '../limits.js';
import type { ReadOptions, RowSelection } from '../wide-column-table.js';
import { type CellWalk, Snapshot } from './cell-walk.js';
import { BATCH_BYTES, BATCH_ROWS, type Batch, type CellFilter, filterOf } from './gather-rows.js';
import type { LmdbEnv } from './lmdb-env.js';
import { lmdbError } from './lmdb-errors.js';
import { rangesOf } from './row-ranges.js';

// Reading goes on without a pause for so long; then the event loop gets a turn.
const TURN_MS = 5;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The table a read belongs to. */
export interface ReadTable {
  readonly env: LmdbEnv;
  readonly location: string;
  readonly counters: TableCounters;
  /** How each open read is ended, for whoever closes the table. */
  readonly openReads: Set<() => void>;
  /** Throws when the table is closed. */
  checkOpen(): void;
}

/** Makes items of the cells of a walk. */
export type Gather<T> = (walk: CellWalk, filter: CellFilter, limit: number) => Batch<T>;

/** What `gather` makes of the rows of a selection, in batches. */
export async function* readBatches<T>(
  { env, location, counters, openReads, checkOpen }: ReadTable,
  selection: RowSelection,
  options: ReadOptions,
  withValues: boolean,
  gather: Gather<T>,
): AsyncGenerator<readonly T[], undefined, void> {
  checkOpen();
  const ranges = rangesOf(selection, options);
  const filter = filterOf(options);
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  checkRowLimit(left);
  const guard = new CallGuard(`reading ${location}`, options);
  // Else the snapshot is gone.
  const checkGoesOn = (): void => {
    guard.check();
    checkOpen();
  };
  let snapshot: Snapshot | undefined;
  const end = (): void => {
    if (!openReads.delete(end)) return;
    snapshot?.end();
    guard.dispose();
    counters.openReads--;
  };
  openReads.add(end);
  counters.reads++;
  counters.openReads++;
  try {
    guard.check();
    snapshot = new Snapshot(env);
    // At once and for good, also while nobody asks for the next batch, and if nobody ever will.
    guard.whenStopped(end);
    let held: T[] = [];
    let heldBytes = 0;
    let turnEnd = performance.now() + TURN_MS;
    for (const range of ranges) {
      if (left <= 0) break;
      checkGoesOn();
      const walk = snapshot.walkOf(range, withValues);
      walk.advance();
      for (let isLast = false; !isLast && left > 0; ) {
        checkGoesOn();
        const batch = gather(walk, filter, left);
        isLast = batch.isLast;
        left -= batch.items.length;
        counters.rowsRead += batch.items.length;
        counters.bytesRead += batch.bytes;
        // Single rows by key are handed out together.
        held = held.length === 0 ? batch.items : held.concat(batch.items);
        heldBytes += batch.bytes;
        if (left <= 0 || (isLast && range === ranges.at(-1))) break;
        const isFull = ranges.length === 1 || held.length >= BATCH_ROWS || heldBytes >= BATCH_BYTES;
        if (held.length > 0 && isFull) {
          snapshot.hold();
          yield held;
          held = [];
          heldBytes = 0;
        }
        if (performance.now() > turnEnd) {
          snapshot.hold();
          await turn();
          turnEnd = performance.now() + TURN_MS;
        }
      }
    }
    guard.check();
    if (held.length > 0) yield held;
  } catch (cause) {
    throw lmdbError(cause, location);
  } finally {
    end();
  }
}
