// Puts the entries of one commit: param set, then digest ids, texts, options, and traces last. In that order whatever a reader meets can be
// read, also when the writer dies half way; putting the same again completes it.
import { chunks, inParallel } from 'spanline/internal/base';
import type { CallDeadline } from '../params/call-deadline.js';
import { setCell } from '../table/cells.js';
import { checkRowKey } from '../table/limits.js';
import type { RowMutation } from '../table/wide-column-table.js';
import { offsetOf, tileOf } from '../tile.js';
import { encodeOptions, type GoldEntry, textRows } from './gold-entry.js';
import { OPTIONS_COLUMN, OPTIONS_FAMILY, offsetColumn, optionsRowKey, TRACE_FAMILY, traceRowKey } from './gold-keys.js';
import type { GoldParts } from './gold-tile-reader.js';
import { encodeVarint } from './values.js';

const ROWS_PER_CALL = 1000;
const CALLS_AT_ONCE = 4;

/** Writes checked entries, of which cells with a later time (Unix milliseconds) stay; resolves to the number of trace rows. */
export const writeEntries = async (
  { table, tileSize, opsRows, digestIds }: GoldParts,
  commit: number,
  entries: readonly GoldEntry[],
  times: { readonly digestMs: number; readonly optionsMs: number },
  deadline: CallDeadline,
): Promise<number> => {
  const tile = tileOf(commit, tileSize);
  const column = offsetColumn(offsetOf(commit, tileSize));
  const ops = await opsRows.at(tile).update(
    entries.map(({ params }) => params),
    deadline.next(),
  );
  const ids = await digestIds.idsOf(
    entries.map(({ digest }) => digest),
    deadline,
  );
  // One row once: the last entry of a trace wins, which the order of the calls could not promise.
  const traces = new Map<string, RowMutation>();
  const options = new Map<string, RowMutation>();
  const setRow = (
    rows: typeof traces,
    key: string,
    family: string,
    qualifier: string,
    value: Uint8Array,
    timestampMs: number,
  ): void => {
    checkRowKey(key);
    rows.set(key, { key, mutations: [setCell(family, qualifier, value, timestampMs)] });
  };
  for (const entry of entries) {
    const encoded = ops.encode(entry.params);
    const id = encodeVarint(ids.get(entry.digest) as number);
    setRow(traces, traceRowKey(tile, encoded), TRACE_FAMILY, column, id, times.digestMs);
    if (entry.options === undefined) continue;
    const text = Buffer.from(encodeOptions(entry.options));
    setRow(options, optionsRowKey(tile, encoded), OPTIONS_FAMILY, OPTIONS_COLUMN, text, times.optionsMs);
  }
  for (const rows of [textRows(entries, times.digestMs), [...options.values()], [...traces.values()]]) {
    await inParallel(chunks(rows, ROWS_PER_CALL), CALLS_AT_ONCE, (chunk) => table.mutateRows(chunk, deadline.next()));
  }
  return traces.size;
};
