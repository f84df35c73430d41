// Writes ingest files into a Perf store. A file that was written whole is not written again, one that was cut off goes on where it stopped, and
// writing any of it twice changes nothing. A bad file must change nothing at all. Histories that come in the wrong order are noticed: commits are
// numbered as they are made known, so an older one that comes later is numbered last, and series jump back in time. That is only told; numbers never
// change.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { traced } from 'spanline';
import type { IngestCommit } from '../ingest/ingest-commit.js';
import { type IngestOptions, openIngestFile } from '../ingest/read-file.js';
import { CallDeadline } from '../params/call-deadline.js';
import { DEFAULT_RULE } from '../params/param-text.js';
import { setCell } from '../table/cells.js';
import type { CallOptions } from '../table/wide-column-table.js';
import { invalidInput, storeCorrupt, TraceDbError } from '../tracedb-error.js';
import { FAMILIES, ingestKey } from './keys.js';
import type { PerfStore } from './perf-store.js';

/** The commits a store has, as far as they were seen. */
interface Known {
  /** The number of the next commit. */
  readonly next: number;
  /** The latest time of a commit; -Infinity where none has one. */
  readonly newestMs: number;
}

const known = new WeakMap<PerfStore, Known>();

/** What the store has now; only commits added since the last look are read. */
const newestKnown = async (perf: PerfStore, options: CallOptions): Promise<Known> => {
  let { next, newestMs } = known.get(perf) ?? { next: 0, newestMs: Number.NEGATIVE_INFINITY };
  for (const { number, timestampMs = newestMs } of await perf.commits.list({ from: next }, options)) {
    next = Math.max(next, number + 1);
    newestMs = Math.max(newestMs, timestampMs);
  }
  const now = { next, newestMs };
  known.set(perf, now);
  return now;
};

const day = (ms: number): string => new Date(ms).toISOString();

/** The order of one file's commits, as they got their numbers. */
class FileOrder {
  #floorMs: number | undefined;
  #newestMs = Number.NEGATIVE_INFINITY;
  #fresh = 0;
  #late = 0;
  #descending = 0;
  #firstLate: string | undefined;

  /** The file begins where the latest commit has this time; what is said later changes nothing. */
  beginsAfter(newestMs: number): void {
    this.#floorMs ??= newestMs;
  }

  /** A commit of the file that nobody had named before got its number. */
  numbered({ commit, timestampMs }: IngestCommit): void {
    this.#fresh++;
    if (timestampMs === undefined) return;
    if (timestampMs < (this.#floorMs as number)) {
      this.#late++;
      this.#firstLate ??= commit;
    } else if (timestampMs < this.#newestMs) this.#descending++;
    this.#newestMs = Math.max(this.#newestMs, timestampMs);
  }

  /** What is said of it; undefined when the order is right. Neighbours in the wrong order, as merges leave them, are not a mistake. */
  warning(file: string): string | undefined {
    const remedy =
      'Numbers never change: to put them right, ingest all files into a new store, oldest first (spanline perf init)';
    if (this.#late > 0) {
      return (
        `${this.#late} commits of ${file}, the first of them ${this.#firstLate}, are older than what the store had ` +
        `(${day(this.#floorMs as number)}) and were numbered behind it. ${remedy}`
      );
    }
    if (this.#descending * 2 < this.#fresh || this.#descending === 0) return undefined;
    return `${file} has its newest commits first: ${this.#descending} were numbered behind newer ones. ${remedy}`;
  }
}

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
  /** What was taken on trust, or is likely not what was meant: the measurement time, the order of commits. Absent where there is none. */
  readonly warnings?: readonly string[];
}

/** A file that could not be read, of several: the others count. */
export interface RefusedFile {
  readonly file: string;
  readonly outcome: 'bad';
  readonly error: TraceDbError;
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
  throw storeCorrupt(
    `row ${ingestKey(digest)} of ${perf.table.location} holds no number of entries; ingest the file with force`,
  );
};

/** A file on its way into the store. */
interface FileState {
  readonly file: string;
  readonly digest: string;
  readonly entriesTotal: number;
  entries: number;
  points: number;
  readonly order: FileOrder;
}

/** Entries of one or many files that are written together, then the progress of their files: never the other way round. */
class IngestBatch {
  #pending: { readonly entry: IngestCommit; readonly state: FileState }[] = [];
  #points = 0;
  /** Entries of each file that are written once what is held is. */
  readonly #reached = new Map<FileState, number>();

  readonly #perf: PerfStore;
  readonly #options: IngestFilesOptions;

  constructor(perf: PerfStore, options: IngestFilesOptions) {
    this.#perf = perf;
    this.#options = options;
  }

  /** Hold an entry, the file's `at`th; what is held is written once it is enough. */
  async add(entry: IngestCommit, state: FileState, at: number): Promise<void> {
    this.#pending.push({ entry, state });
    this.#points += entry.points.length;
    this.#reached.set(state, at);
    if (this.#points >= BATCH_POINTS || this.#pending.length >= BATCH_ENTRIES) await this.flush();
  }

  /** Write what is held. */
  async flush(): Promise<void> {
    const perf = this.#perf;
    const pending = this.#pending;
    const last = pending.at(-1)?.state;
    if (last === undefined) return;
    const { deadlineMs, signal, onProgress } = this.#options;
    const call = (): CallOptions => new CallDeadline(`ingesting ${last.file}`, { deadlineMs, signal }).next();
    const entries = pending.map(({ entry }) => entry);
    const before = await newestKnown(perf, call());
    const numbers = await perf.commits.add(
      entries.map(({ commit, timestampMs }) => ({ hash: commit, timestampMs })),
      call(),
    );
    await perf.write(
      entries.map(({ source, measuredMs, points }, i) => ({
        commit: numbers[i] as number,
        source,
        timestampMs: measuredMs,
        points,
      })),
      call(),
    );
    await this.#writeProgress(call());
    const seen = new Set<number>();
    let { newestMs } = before;
    pending.forEach(({ entry, state }, i) => {
      const number = numbers[i] as number;
      state.points += entry.points.length;
      state.order.beginsAfter(newestMs);
      if (number < before.next || seen.has(number)) return;
      seen.add(number);
      state.order.numbered(entry);
      newestMs = Math.max(newestMs, entry.timestampMs ?? newestMs);
    });
    for (const [state, at] of this.#reached) {
      state.entries = at;
      onProgress?.({ file: state.file, entries: at, entriesTotal: state.entriesTotal, points: state.points });
    }
    this.#pending = [];
    this.#points = 0;
    this.#reached.clear();
  }

  #writeProgress(options: CallOptions): Promise<void> {
    const rows = Array.from(this.#reached, ([{ digest }, at]) => ({
      key: ingestKey(digest),
      mutations: [setCell(FAMILIES.commit, PROGRESS_COLUMN, String(at))],
    }));
    return this.#perf.table.mutateRows(rows, options);
  }
}

/** Whether an error is about one file, and the others can go on. */
const isOfFile = (error: unknown): error is TraceDbError =>
  error instanceof TraceDbError && (error.code === 'ERR_SPANLINE_INVALID_INPUT' || error.code === 'ERR_SPANLINE_FILE');

const warningsOf = (file: string, isFileTime: boolean, order: FileOrder): readonly string[] => {
  const warnings: string[] = [];
  if (isFileTime) {
    warnings.push(
      `${file} does not say when it was measured: the time the file was written is taken, and by it a later measurement wins; ` +
        'give the time (--measured, measuredMs, or "date" in the file)',
    );
  }
  const late = order.warning(file);
  if (late !== undefined) warnings.push(late);
  return warnings;
};

/** Reads a file into a batch; the result counts only once the batch is flushed. */
const intoBatch = async (
  perf: PerfStore,
  path: string,
  options: IngestFilesOptions,
  batch: IngestBatch,
): Promise<() => IngestedFile> => {
  const { force = false, deadlineMs, onProgress: _, ...given } = options;
  const reading = { ...given, rule: given.rule ?? perf.rule };
  const file = reading.name ?? path;
  // It becomes part of the sources, and a bad file changes nothing: not even the commits, which are written before them.
  if (file === '' || file.length > MAX_NAME_LENGTH) {
    throw invalidInput(`the name of a file must have 1 to ${MAX_NAME_LENGTH} characters, not ${file.length}`);
  }
  const call = (): CallOptions => new CallDeadline(`ingesting ${file}`, { deadlineMs, signal: reading.signal }).next();
  const opened = await openIngestFile(path, reading);
  try {
    const { commits: entriesTotal, isFileTime = false } = opened.summary;
    // The commit, its time, the format and how params are cleaned change what a file means.
    const { format, commit, commitMs, measuredMs, rule } = reading;
    const cleaning = rule.allowed === DEFAULT_RULE.allowed ? [] : [rule.allowed];
    const made = commitMs === undefined ? [] : [{ commitMs }];
    const digest = await digestOf(path, JSON.stringify([file, format, commit, measuredMs, ...cleaning, ...made]));
    const before = force ? 0 : await readProgress(perf, digest, call());
    if (before >= entriesTotal && entriesTotal > 0) {
      return () => ({ file, outcome: 'already', entries: 0, points: 0 });
    }
    const state: FileState = { file, digest, entriesTotal, entries: before, points: 0, order: new FileOrder() };
    let at = 0;
    for await (const entry of opened.commits()) {
      at++;
      if (at > before) await batch.add(entry, state, at);
    }
    return () => {
      const warnings = warningsOf(file, isFileTime, state.order);
      return {
        file,
        outcome: before > 0 ? 'resumed' : 'written',
        entries: state.entries - before,
        points: state.points,
        ...(warnings.length > 0 && { warnings }),
      };
    };
  } finally {
    await opened.close();
  }
};

/**
 * Write one file into the store.
 *
 * Use it for results of any format of `readIngestFile`. Commits not known yet get numbers in the order of the file, so ingest
 * histories oldest first. Rejects as `readIngestFile` does, and as the store does.
 *
 * @example
 * ```ts
 * import { ingestFile, openTable, PERF_SCHEMA, PerfStore } from '@spanline/tracedb';
 *
 * const table = await openTable('./perf-of-a-file', PERF_SCHEMA);
 * const perf = await PerfStore.open(table);
 * const { points } = await ingestFile(perf, 'examples/data/otel-js-benchmarks.jsonl.gz');
 * console.assert(points === 9477);
 * await table.close();
 * ```
 */
export const ingestFile = traced(
  'perf.ingest-file',
  async (perf: PerfStore, path: string, options: IngestFilesOptions = {}): Promise<IngestedFile> => {
    const batch = new IngestBatch(perf, options);
    const result = await intoBatch(perf, path, options, batch);
    await batch.flush();
    return result();
  },
);

/**
 * Write many files into the store, small ones together: every write waits for the disk, so thousands of files of some points cost
 * about what one large file does. Each is resumed as `ingestFile` resumes it, wherever the process ended. A file that is bad is
 * among the results with its error, and the others count; any other failure rejects.
 *
 * @example
 * ```ts
 * import { ingestFiles, openTable, PERF_SCHEMA, PerfStore } from '@spanline/tracedb';
 *
 * const table = await openTable('./perf-of-files', PERF_SCHEMA);
 * const perf = await PerfStore.open(table);
 * const [history, missing] = await ingestFiles(perf, ['examples/data/otel-js-benchmarks.jsonl.gz', 'no-such-file']);
 * console.assert(history.outcome === 'written' && missing.outcome === 'bad');
 * await table.close();
 * ```
 */
export const ingestFiles = traced(
  'perf.ingest-files',
  async (
    perf: PerfStore,
    paths: Iterable<string>,
    options: Omit<IngestFilesOptions, 'name'> = {},
  ): Promise<(IngestedFile | RefusedFile)[]> => {
    const batch = new IngestBatch(perf, options);
    const results: (() => IngestedFile | RefusedFile)[] = [];
    for (const path of paths) {
      try {
        results.push(await intoBatch(perf, path, options, batch));
      } catch (error) {
        if (!isOfFile(error)) throw error;
        results.push(() => ({ file: path, outcome: 'bad', error }));
      }
    }
    await batch.flush();
    return results.map((result) => result());
  },
);
