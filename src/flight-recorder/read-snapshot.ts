// Reads a snapshot that the recorder has written to a file. What is damaged is left out and counted; nothing here may write.
//
// Makes blocks of another process readable here: numbers of names and of scopes become those of this thread, in columns of the reader's own. The
// memory of a block must stay as it was read: what is written again, such as a recovered snapshot, has its own texts for its numbers.

import { readFile } from 'node:fs/promises';
import { internReadName, internScope, spanScope } from '../rows/name-table.js';
import { Flag, RowChunk } from '../rows/row-chunk.js';
import { RowEntries, Tag } from '../rows/row-entries.js';
import type { Block } from './block.js';
import { BlockSnapshot } from './block-snapshot.js';
import { FlightError } from './flight-error.js';
import { readRecords, valuesOf } from './flight-records.js';
import type { SnapshotHead } from './snapshot-file.js';
import type { Snapshot } from './snapshot-types.js';

const SCOPE_BITS = (1 << Flag.scopeShift) - 1;

export const takeOverNames = (block: Block): void => {
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
