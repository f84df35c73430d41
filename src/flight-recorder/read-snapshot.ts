// Reads a snapshot that the recorder has written to a file, and what a process that is gone has left in the directory of its recorder. What is
// damaged is left out and counted; nothing here may write. Blocks of another process become readable: numbers of names and of scopes become those of
// this thread, in columns of the reader's own. The memory of a block must stay as it was read: what is written again, such as a recovered snapshot,
// has its own texts for its numbers.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isGone } from '../base/files/whole-file.js';
import type { Resource } from '../collector/reporter.js';
import { Flag, RowChunk } from '../rows/row-chunk.js';
import { RowEntries, Tag } from '../rows/row-entries.js';
import { internReadName, internScope, spanScope } from '../rows/row-text.js';
import { type Block, TRACE_WORDS } from './block.js';
import { BlockSnapshot, traceIdAt } from './block-snapshot.js';
import { readRecords, valuesOf } from './flight-records.js';
import {
  isOfLiving,
  partsOfName,
  type RowsCancelled,
  type RowsFileName,
  type RowsHead,
  type RowsTimeline,
} from './rows-files.js';
import type { SnapshotHead } from './snapshot-file.js';
import { FlightError, type Snapshot } from './snapshot-types.js';
import { readTail, rowKey } from './tail/read-tail.js';
import type { TimelineRow } from './timeline/timeline-row.js';

const SCOPE_BITS = (1 << Flag.scopeShift) - 1;

const takeOverNames = (block: Block): void => {
  const { chunk, meta } = block;
  const numbers = new Map(meta.names.map(([number, text]) => [number, internReadName(text)]));
  const scopes = new Map(
    meta.scopes.map(([number, { name, version, schemaUrl, properties }]) => [
      number,
      internScope(spanScope(name, version, schemaUrl, properties)),
    ]),
  );
  const [names, flags, words] = [chunk.names.slice(), chunk.flags.slice(), chunk.entries.words.slice()];
  const { count, text } = chunk.entries;
  for (let row = 0; row < chunk.count; row++) {
    names[row] = numbers.get(names[row]) ?? 0;
    const scope = flags[row] >> Flag.scopeShift;
    if (scope > 0) flags[row] = (flags[row] & SCOPE_BITS) | ((scopes.get(scope) ?? 0) << Flag.scopeShift);
  }
  for (let at = 0; at < count * 4; at += 4) {
    const tag = words[at + 1] & 0xff;
    if (tag <= Tag.array || tag === Tag.event) words[at] = numbers.get(words[at]) ?? 0;
  }
  block.chunk = RowChunk.over({ ...chunk, names, flags, entries: RowEntries.over(words, count, text) }, chunk.count);
};

/**
 * Read a file that the recorder has written. What is damaged in it is left out and counted in `tornRows`.
 *
 * Rejects with `ERR_SPANLINE_FLIGHT_FORMAT` for a file that is none, and with Node's error for one that cannot be read.
 *
 * @example
 * ```ts
 * import { configure, Span } from 'spanline';
 * import { readSnapshotFile, saveSnapshot } from 'spanline/flight-recorder';
 *
 * configure({ flightRecorder: {} });
 * Span.root('GET /query').end();
 * await saveSnapshot('query.flight');
 *
 * const saved = await readSnapshotFile('query.flight');
 * for (const { traceId, spans } of saved.traces()) console.log(traceId, spans.length);
 * ```
 */
export const readSnapshotFile = async (path: string): Promise<Snapshot> => {
  const records = readRecords(await readFile(path));
  const { blocks, tornRows, isKnown } = records;
  const [head] = valuesOf<SnapshotHead>(records, 'snapshot');
  if (head === undefined) {
    const why = isKnown ? 'it has lost its beginning' : 'it has none of its marks';
    throw new FlightError('ERR_SPANLINE_FLIGHT_FORMAT', `${path} is not a snapshot of the flight recorder: ${why}.`);
  }
  for (const block of blocks) takeOverNames(block);
  const closed = Math.min(head.blocks, blocks.length);
  return new BlockSnapshot({
    ...head,
    taken: head.taken || blocks.reduce((last, { lastEnd }) => Math.max(last, lastEnd), 0),
    blocks: blocks.slice(0, closed),
    open: blocks.slice(closed),
    cancelled: new Set(head.cancelled),
    tornRows: head.tornRows + tornRows,
  });
};

/** Files of each process: those that are gone first, of them the one that began last; then those that still run. */
const filesByProcess = async (directory: string, pid: number | undefined): Promise<readonly RowsFileName[][]> => {
  const files = (await readdir(directory)).map(partsOfName).filter((file) => file !== undefined);
  const processes = new Map<string, RowsFileName[]>();
  for (const file of files.sort((a, b) => b.started - a.started || a.number - b.number)) {
    if (pid !== undefined && file.pid !== pid) continue;
    const key = `${file.started} ${file.pid}`;
    processes.set(key, [...(processes.get(key) ?? []), file]);
  }
  const all = [...processes.values()];
  // One that was started again records into the same directory.
  const [gone, living] = [all.filter(([file]) => !isOfLiving(file)), all.filter(([file]) => isOfLiving(file))];
  return [...gone, ...living];
};

/** Which of some rows are among those of blocks. */
const rowsAmong = (wanted: ReadonlySet<string>, blocks: readonly Block[]): ReadonlySet<string> => {
  const found = new Set<string>();
  if (wanted.size === 0) return found;
  for (const { chunk, traces } of blocks) {
    const traceIds = Array.from({ length: traces.length / TRACE_WORDS }, (_, i) => traceIdAt(traces, i * TRACE_WORDS));
    for (let row = 0; row < chunk.count; row++) {
      const key = rowKey(traceIds[chunk.slots[row]], chunk.idHis[row], chunk.idLos[row]);
      if (wanted.has(key)) found.add(key);
    }
  }
  return found;
};

/** Stretches of these are a millisecond long at least, and may be seen before they end. */
const MAY_GO_ON: ReadonlySet<TimelineRow['kind']> = new Set(['busy', 'pool']);
/** By so much the begin of one stretch may differ between two looks at it. Microseconds. */
const SAME_US = 500;

// A stretch that was going on is written again with the next look, until it has ended.
const lastOfEach = (rows: readonly TimelineRow[]): TimelineRow[] => {
  const kept: TimelineRow[] = [];
  const lastOf = new Map<TimelineRow['kind'], number>();
  for (const row of [...rows].sort((a, b) => a.startUs - b.startUs || a.endUs - b.endUs)) {
    const at = lastOf.get(row.kind);
    const before = at === undefined ? undefined : kept[at];
    const isSame = before !== undefined && MAY_GO_ON.has(row.kind) && row.startUs - before.startUs < SAME_US;
    if (!isSame) lastOf.set(row.kind, kept.push(row) - 1);
    else if (row.endUs >= before.endUs) kept[at as number] = row;
  }
  return kept;
};

/** Undefined for a file that is gone: a process that still runs deletes its oldest. */
const readIfThere = async (path: string): Promise<Buffer | undefined> => {
  try {
    return await readFile(path);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
};

/**
 * What the files of a process hold. A process that still runs moves rows from the mapped file into the others, which is why that one is read first and
 * only then looked for the others: a row that was moved meanwhile is in both, and none is in neither.
 */
const contentsOf = async (directory: string, files: readonly RowsFileName[]) => {
  const [{ started, pid }] = files;
  const tail = files.find(({ number }) => number === 0);
  const mapped = tail && (await readIfThere(join(directory, tail.name)));
  const now = (await readdir(directory)).map(partsOfName).filter((file) => file !== undefined);
  const rows = now
    .filter((file) => file.started === started && file.pid === pid && file.number > 0)
    .sort((a, b) => a.number - b.number);
  const read = await Promise.all(rows.map(({ name }) => readIfThere(join(directory, name))));
  return { mapped, read: read.filter((content) => content !== undefined).map(readRecords) };
};

/** What a process has left; undefined where it is nothing. */
const snapshotOf = async (directory: string, files: readonly RowsFileName[]): Promise<BlockSnapshot | undefined> => {
  const { mapped, read } = await contentsOf(directory, files);
  const whole = read.flatMap((records): readonly Block[] => records.blocks);
  const head = read.flatMap((records) => valuesOf<RowsHead>(records, 'rows'))[0];
  const last = whole[whole.length - 1];
  const resource = (last?.meta.resources[0] ?? head?.resource) as Resource | undefined;
  const tail = mapped && readTail(mapped, resource, (wanted) => rowsAmong(wanted, whole));
  const blocks = [...whole, ...(tail?.blocks ?? [])];
  const open = tail?.open ?? [];
  if (head === undefined || resource === undefined || blocks.length + open.length === 0) return undefined;
  for (const block of whole) takeOverNames(block);
  const cancelled = read.flatMap((records) => valuesOf<RowsCancelled>(records, 'cancelled'));
  const timeline = read.flatMap((records) => valuesOf<RowsTimeline>(records, 'timeline'));
  return new BlockSnapshot({
    reason: { kind: 'recovered', text: `process ${head.pid}`, traceId: '' },
    anchor: last?.meta.anchor ?? head.anchor,
    taken: blocks.reduce((last, { lastEnd }) => Math.max(last, lastEnd), tail?.lastTicks ?? 0),
    resource,
    blocks,
    open,
    timeline: lastOfEach(timeline.flatMap(({ rows }) => rows)),
    timelineFromUs: head.timelineFromUs,
    tornRows: read.reduce((sum, records) => sum + records.tornRows, tail?.tornRows ?? 0),
    cancelled: new Set([...cancelled.flatMap(({ traceIds }) => traceIds), ...(tail?.cancelled ?? [])]),
  });
};

/**
 * What a process that is gone has left with `file: DIR`: the one that began last, or that with this process id. A process that still runs is taken
 * where none that is gone has left anything, such as one whose event loop is blocked. Spans that had not ended are marked so, and end at the last
 * sign of life.
 *
 * Rejects with `ERR_SPANLINE_FLIGHT_NOTHING` where no process has left anything, and with Node's error for a directory that cannot be read.
 *
 * @example
 * ```ts
 * import { configure, Span } from 'spanline';
 * import { recoverSnapshot } from 'spanline/flight-recorder';
 *
 * // In the service, which is then killed.
 * configure({ flightRecorder: { file: 'flight-files' } });
 * Span.root('GET /query').end();
 *
 * // In any process.
 * const { spanCount, bufferedMs, tornRows } = await recoverSnapshot('flight-files');
 * console.log(`${spanCount} spans of the last ${bufferedMs / 1000} s, ${tornRows} torn`);
 * ```
 */
export const recoverSnapshot = async (
  directory: string,
  options: { readonly pid?: number } = {},
): Promise<Snapshot> => {
  for (const files of await filesByProcess(directory, options.pid)) {
    const left = await snapshotOf(directory, files);
    if (left !== undefined) return left;
  }
  const who = options.pid === undefined ? '' : ` of process ${options.pid}`;
  throw new FlightError(
    'ERR_SPANLINE_FLIGHT_NOTHING',
    `${directory} holds no spans${who} that a flight recorder has left. It is written to by a recorder with the option "file".`,
  );
};
