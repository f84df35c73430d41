// Reads what the recorder has written: snapshots, and what a process that is gone has left in its directory. What is damaged is left out and
// counted; nothing here may write.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClockAnchor } from '../clock/index.js';
import type { Resource } from '../collector/reporter.js';
import type { Block } from './block.js';
import { BlockSnapshot } from './block-snapshot.js';
import { FlightError } from './flight-error.js';
import { type FlightRecords, readRecords } from './flight-records.js';
import type { LaneRow } from './lane/lane-row.js';
import { takeOverNames } from './read-names.js';
import { partsOfName, type RowsCancelled, type RowsHead, type RowsLane } from './rows-files.js';
import type { SnapshotHead } from './snapshot-file.js';
import type { Snapshot } from './snapshot-types.js';

const valuesOf = <T extends { readonly kind: string }>({ json }: FlightRecords, kind: T['kind']): T[] =>
  json.map(([, value]) => value as T).filter((value) => value?.kind === kind);

// A stretch that was going on is written again once it has ended.
const lastOfEach = (rows: readonly LaneRow[]): LaneRow[] => [
  ...new Map(rows.map((row) => [`${row.kind} ${row.startUs}`, row])).values(),
];

const lastEndOf = (blocks: readonly Block[]): number =>
  blocks.reduce((most, { lastEnd }) => Math.max(most, lastEnd), 0);

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
    throw new FlightError('ERR_SPANLINE_FLIGHT_FORMAT', `${path} is no snapshot of the flight recorder: ${why}.`);
  }
  for (const block of blocks) takeOverNames(block);
  const closed = Math.min(head.blocks, blocks.length);
  return new BlockSnapshot({
    ...head,
    taken: head.taken || lastEndOf(blocks),
    blocks: blocks.slice(0, closed),
    open: blocks.slice(closed),
    cancelled: new Set(head.cancelled),
    tornRows: head.tornRows + tornRows,
  });
};

/**
 * What a process that is gone has left with `file: DIR`: the one that began last, or that with this process id. Spans that were open are not
 * there.
 *
 * Rejects with `ERR_SPANLINE_FLIGHT_NOTHING` where no process has left anything, and with Node's error for a directory that cannot be read.
 *
 * @example
 * ```ts
 * import { setTimeout as sleep } from 'node:timers/promises';
 * import { configure, Span } from 'spanline';
 * import { recoverSnapshot } from 'spanline/flight-recorder';
 *
 * // In the service, which is then killed.
 * configure({ flightRecorder: { file: 'flight-files' } });
 * Span.root('GET /query').end();
 * // Files are written to five times a second.
 * await sleep(300);
 *
 * // In any process.
 * const { spanCount, heldMs, tornRows } = await recoverSnapshot('flight-files');
 * console.log(`${spanCount} spans of the last ${heldMs / 1000} s, ${tornRows} torn`);
 * ```
 */
export const recoverSnapshot = async (
  directory: string,
  options: { readonly pid?: number } = {},
): Promise<Snapshot> => {
  const files = (await readdir(directory)).map(partsOfName).filter((file) => file !== undefined);
  const wanted = files.filter(({ pid }) => options.pid === undefined || pid === options.pid);
  const last = wanted.reduce((most, { started }) => Math.max(most, started), 0);
  const own = wanted.filter(({ started }) => started === last).sort((a, b) => a.number - b.number);
  const read = await Promise.all(own.map(async ({ name }) => readRecords(await readFile(join(directory, name)))));
  const blocks = read.flatMap((records): readonly Block[] => records.blocks);
  const head = read.flatMap((records) => valuesOf<RowsHead>(records, 'rows'))[0];
  if (blocks.length === 0 || head === undefined) {
    const who = options.pid === undefined ? '' : ` of process ${options.pid}`;
    throw new FlightError(
      'ERR_SPANLINE_FLIGHT_NOTHING',
      `${directory} holds no spans${who} that a flight recorder has left. It is written to by a recorder with the option "file".`,
    );
  }
  const { anchor, resources } = blocks[blocks.length - 1].meta as {
    anchor: ClockAnchor;
    resources: readonly Resource[];
  };
  for (const block of blocks) takeOverNames(block);
  return new BlockSnapshot({
    reason: { kind: 'recovered', text: `process ${head.pid}`, traceId: '' },
    anchor,
    taken: lastEndOf(blocks),
    resource: resources[0],
    blocks,
    open: [],
    lane: lastOfEach(read.flatMap((records) => valuesOf<RowsLane>(records, 'lane').flatMap(({ rows }) => rows))),
    tornRows: read.reduce((sum, records) => sum + records.tornRows, 0),
    cancelled: new Set(
      read.flatMap((records) => valuesOf<RowsCancelled>(records, 'cancelled').flatMap(({ traceIds }) => traceIds)),
    ),
  });
};
