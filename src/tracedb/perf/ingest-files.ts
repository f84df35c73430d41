// Writes ingest files into a Perf store. A file that was written whole is not written again, one that was cut off goes on where it
// stopped, and writing any of it twice changes nothing. A bad file must change nothing at all.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { traced } from '../../span/traced.js';
import type { IngestCommit } from '../ingest/ingest-commit.js';
import { type IngestOptions, readIngestFile, validateIngestFile } from '../ingest/read-file.js';
import { CallDeadline } from '../params/call-deadline.js';
import { DEFAULT_RULE } from '../params/cleaning.js';
import type { CallOptions } from '../table/wide-column-table.js';
import { TraceDbError } from '../tracedb-error.js';
import { FAMILIES, ingestKey } from './keys.js';
import type { PerfStore } from './perf-store.js';

/** How files are ingested. */
export interface IngestFilesOptions extends IngestOptions {
  /** Write a file even when the store has it. */
  readonly force?: boolean;
  /** Milliseconds a call of the store may take. Default 60,000. */
  readonly deadlineMs?: number;
  /** Called after every batch. */
  readonly onProgress?: (progress: IngestProgress) => void;
}

/** How far a file is. */
export interface IngestProgress {
  readonly file: string;
  readonly entries: number;
  readonly entriesTotal: number;
  readonly points: number;
}

/** What became of one file. */
export interface IngestedFile {
  readonly file: string;
  /** `already`: the store has all of it. */
  readonly outcome: 'written' | 'resumed' | 'already';
  /** Entries and points written now. */
  readonly entries: number;
  readonly points: number;
}

// One write of the store: large, for each waits for the disk, yet a few megabytes.
const BATCH_POINTS = 10_000;
const BATCH_ENTRIES = 1000;
const PROGRESS_COLUMN = 'P';
const MAX_NAME_LENGTH = 4096;

const digestOf = async (path: string, salt: string): Promise<string> => {
  const hash = createHash('md5').update(salt);
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
};

/** Entries of a file known to be written. */
const readProgress = async (perf: PerfStore, digest: string, options: CallOptions): Promise<number> => {
  const filter = { families: [FAMILIES.commit], qualifiers: [PROGRESS_COLUMN] };
  const row = await perf.table.readRow(ingestKey(digest), { ...options, ...filter });
  const value = row?.cells[0]?.value;
  const done = value === undefined ? 0 : Number(Buffer.from(value).toString());
  if (Number.isSafeInteger(done) && done >= 0) return done;
  throw new TraceDbError(
    'ERR_SPANLINE_STORE_CORRUPT',
    `row ${ingestKey(digest)} of ${perf.table.location} holds no number of entries; ingest the file with force`,
  );
};

const writeProgress = (perf: PerfStore, digest: string, entries: number, options: CallOptions): Promise<void> =>
  perf.table.mutateRows(
    [
      {
        key: ingestKey(digest),
        mutations: [
          {
            type: 'set',
            family: FAMILIES.commit,
            qualifier: PROGRESS_COLUMN,
            value: Buffer.from(String(entries)),
            timestampMs: Date.now(),
          },
        ],
      },
    ],
    options,
  );

const writeEntries = async (perf: PerfStore, entries: readonly IngestCommit[], call: CallOptions): Promise<number> => {
  const infos = entries.map(({ commit, timestampMs }) => ({ hash: commit, timestampMs }));
  const numbers = await perf.commits.add(infos, call);
  const { points } = await perf.write(
    entries.map(({ source, measuredMs, points: some }, i) => ({
      commit: numbers[i] as number,
      source,
      timestampMs: measuredMs,
      points: some,
    })),
    call,
  );
  return points;
};

/**
 * Write one file into the store.
 *
 * Use it for results of any format of `readIngestFile`. Commits not known yet get numbers in the order of the file, so ingest
 * histories oldest first. Rejects as `readIngestFile` does, and as the store does.
 *
 * @example
 * ```ts
 * import { mkdtemp } from 'node:fs/promises';
 * import { tmpdir } from 'node:os';
 * import { join } from 'node:path';
 * import { ingestFile, openTable, PERF_SCHEMA, PerfStore } from 'spanline/tracedb';
 *
 * const table = await openTable(await mkdtemp(join(tmpdir(), 'perf-')), PERF_SCHEMA);
 * const perf = await PerfStore.open(table);
 * const { points } = await ingestFile(perf, 'examples/data/otel-js-benchmarks.jsonl.gz');
 * console.assert(points === 9477);
 * await table.close();
 * ```
 */
export const ingestFile = traced(
  'perf.ingest-file',
  async (perf: PerfStore, path: string, options: IngestFilesOptions = {}): Promise<IngestedFile> => {
    const { force = false, deadlineMs, onProgress, ...given } = options;
    const reading = { ...given, rule: given.rule ?? perf.rule };
    const file = reading.name ?? path;
    // It becomes part of the sources, and a bad file changes nothing: not even the commits, which are written before them.
    if (file === '' || file.length > MAX_NAME_LENGTH) {
      throw new TraceDbError(
        'ERR_SPANLINE_INVALID_INPUT',
        `the name of a file must have 1 to ${MAX_NAME_LENGTH} characters, not ${file.length}`,
      );
    }
    const call = (): CallOptions =>
      new CallDeadline(`ingesting ${file}`, { deadlineMs, signal: reading.signal }).next();
    const { commits: entriesTotal } = await validateIngestFile(path, reading);
    // The commit, the format and how params are cleaned change what a file means.
    const { format, commit, measuredMs, rule } = reading;
    const cleaning = rule.allowed === DEFAULT_RULE.allowed ? [] : [rule.allowed];
    const digest = await digestOf(path, JSON.stringify([file, format, commit, measuredMs, ...cleaning]));
    const before = force ? 0 : await readProgress(perf, digest, call());
    if (before >= entriesTotal && entriesTotal > 0) return { file, outcome: 'already', entries: 0, points: 0 };
    let at = 0;
    let points = 0;
    let held: IngestCommit[] = [];
    let heldPoints = 0;
    const flush = async (): Promise<void> => {
      if (held.length === 0) return;
      points += await writeEntries(perf, held, call());
      held = [];
      heldPoints = 0;
      await writeProgress(perf, digest, at, call());
      onProgress?.({ file, entries: at, entriesTotal, points });
    };
    for await (const entry of readIngestFile(path, reading)) {
      at++;
      if (at <= before) continue;
      held.push(entry);
      heldPoints += entry.points.length;
      if (heldPoints >= BATCH_POINTS || held.length >= BATCH_ENTRIES) await flush();
    }
    await flush();
    return { file, outcome: before > 0 ? 'resumed' : 'written', entries: at - before, points };
  },
);
