// Reads a snapshot that the recorder has written to a file. What is damaged is left out and counted; nothing here may write.
import { readFile } from 'node:fs/promises';
import { BlockSnapshot } from './block-snapshot.js';
import { FlightError } from './flight-error.js';
import { readRecords, valuesOf } from './flight-records.js';
import { takeOverNames } from './read-names.js';
import type { SnapshotHead } from './snapshot-file.js';
import type { Snapshot } from './snapshot-types.js';

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
