// The synthetic tile on disk, built once a machine for each number of traces: as a Perf store, and as a SQLite database of the same index.
// A build that was interrupted must never be taken for a whole one.
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from '../../scripts/lib/lock.mjs';
import { root } from '../../scripts/lib/run.mjs';
import { pointsOf, SOURCE, TIME_MS } from './shape.mjs';

/** Raised when the shape of the tile or the format of the store changes: the old ones are then left alone. */
const VERSION = 1;
const BATCH_TRACES = 10_000;

const folder = join(root, '.tmp/bench-tracedb');

/** Where the Perf store of so many traces is. */
export const storePath = (traces) => join(folder, `perf-${traces}-v${VERSION}`);
/** Where the SQLite database of so many traces is. */
export const sqlitePath = (traces) => join(folder, `pairs-${traces}-v${VERSION}.sqlite`);
/** A folder for what a round writes; nothing in it outlives the process. */
export const scratchPath = (name) => join(folder, `scratch-${process.pid}-${name}`);

/** Build `path` unless it is there. `build` is given the path to build at. */
export async function buildOnce(path, build) {
  mkdirSync(folder, { recursive: true });
  await withLock(`${path}.lock`, async () => {
    if (existsSync(path)) return;
    const fresh = `${path}.new`;
    rmSync(fresh, { recursive: true, force: true });
    await build(fresh);
    renameSync(fresh, path);
  });
}

/** Build the Perf store of so many traces, one point each. */
export const buildStore = (traces, log) =>
  buildOnce(storePath(traces), async (path) => {
    const { openTable, PERF_SCHEMA, PerfStore } = await import('../../dist/bench/tracedb.js');
    const table = await openTable(path, PERF_SCHEMA);
    const perf = await PerfStore.open(table);
    for (let from = 0; from < traces; from += BATCH_TRACES) {
      log(`building the tile: ${from} of ${traces} traces`);
      const points = pointsOf(from, Math.min(traces, from + BATCH_TRACES), traces);
      await perf.write([{ commit: 0, source: SOURCE, timestampMs: TIME_MS, points }]);
    }
    await table.close();
  });
