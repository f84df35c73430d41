// How an archive is opened and what it says of itself. Types and bounds only.
import { getHeapStatistics } from 'node:v8';
import { badOptions } from '@spanline/graph/internal';
import { flag, wholeNumber } from 'spanline/internal/base';
import type { ObjectStoreOptions, StoreStats } from './bucket/object-store.js';

/** What is kept; the rest is deleted, a segment at a time. */
export interface Retention {
  /** Delete segments whose spans all ended longer ago. Default: never. */
  readonly maxAgeMs?: number;
  /** Delete the oldest segments beyond so many bytes of all. Default: never. */
  readonly maxBytes?: number;
}

/** How an archive in an object store is opened, whose place is `s3://bucket/prefix`; see docs/archive.md. */
export interface BucketOptions {
  /** Directory where spans wait until they are in the bucket, of this process alone; needed unless `readOnly`. */
  readonly spool?: string;
  /** `spool` is the home of the spools of several processes of this machine, of which each takes one of its own. Default false. */
  readonly spoolIsShared?: boolean;
  /** Bytes of the spool beyond which spans are refused and counted. Default 1 GiB. */
  readonly spoolBytes?: number;
  /** Where catalogue and cards are kept between two runs; '' for nowhere. Default: `spanline` in `$XDG_CACHE_HOME` or `~/.cache`. */
  readonly cacheDirectory?: string;
  /** Bytes kept there. Default 512 MiB. */
  readonly cacheDirectoryBytes?: number;
  /**
   * Called with a line for a person when spans cannot be put into the bucket, or maintenance fails, once in a row; when it works again; and when the spool
   * was another's. Default: only `stats()` has it.
   */
  readonly onNotice?: (line: string) => void;
  /** How the store is reached; what is left out comes from AWS's variables and files. */
  readonly s3?: ObjectStoreOptions;
}

/** How an archive is opened. */
export interface ArchiveOptions extends Retention, BucketOptions {
  /** Only read: no write-ahead file is made, nothing is recovered, merged or deleted. Default false. */
  readonly readOnly?: boolean;
  /** With `readOnly`: a directory that is not there yet is an empty archive, until another process makes it. Default false. */
  readonly mayBeMissing?: boolean;
  /**
   * Merge and delete segments in the background. With false it is left to another process that has the archive open, such as
   * `spanline serve`. Default true, of an archive in an object store false.
   */
  readonly maintain?: boolean;
  /**
   * Sort and merge segments of 1,000 spans and more in a worker thread. With false, or where none can be started, as in a bundle that has
   * not the package's files beside it, that keeps this thread busy: about 2.5 us for a span that is sorted, 7 us for one merged again. Default true.
   */
  readonly worker?: boolean;
  /** Fewer spans, of less than 1 MiB, become a sorted segment at once, in this thread; others an unsorted one, which merging sorts. Default 1,000. */
  readonly unsortedSpans?: number;
  /** Spans held before they become a segment. Default 100,000. */
  readonly segmentSpans?: number;
  /** Milliseconds after which held spans become a segment, however few. Default 60,000. */
  readonly segmentMs?: number;
  /** Bytes of the write-ahead file after which it becomes a segment. Default 64 MiB, or a 128th of this process's heap where that is less. */
  readonly walBytes?: number;
  /** Spans held at most, when segments cannot be written, or not as fast; more are refused and counted. Default 500,000. */
  readonly maxBufferedSpans?: number;
  /** Bytes of the write-ahead file beyond which spans are refused and counted. Default 256 MiB. */
  readonly maxBufferedBytes?: number;
  /** Spans of a merged segment at most. Default 300,000. */
  readonly mergedSpans?: number;
  /** Segments open at a time for reading. Default 128. */
  readonly openSegments?: number;
  /** Bytes of decoded blocks kept. Default 64 MiB. */
  readonly cacheBytes?: number;
}

/** A file that could not be read, or not all of it. */
export interface DamagedSegment {
  readonly file: string;
  readonly code: string;
  readonly message: string;
}

/** What a process did to maintain an archive in an object store. */
export interface MaintenanceStats {
  /** Times that it looked for work. */
  readonly passes: number;
  /** Uploads that it took into the catalogue. */
  readonly folded: number;
  /** Segments that it merged, and those that it made of them. */
  readonly merged: number;
  readonly written: number;
  /** Merges that came for nothing, because another process had done them. */
  readonly lostMerges: number;
  /** Segments that were too old or too many, and objects that it deleted. */
  readonly retired: number;
  readonly deleted: number;
  /** Generations that it committed, and times that others were quicker. */
  readonly commits: number;
  readonly conflicts: number;
  /** Times that a part of the work failed, and why the last time. */
  readonly failures: number;
  readonly lastFailure: string;
}

/** What is only said of an archive in an object store. */
export interface BucketStats extends StoreStats {
  /** Of the newest generation that was read; 0: nobody has maintained the archive yet. */
  readonly generation: number;
  /** Uploads that no maintainer has folded in yet. */
  readonly freshUploads: number;
  /** Segments put by this process, and their bytes. */
  readonly uploads: number;
  readonly uploadedBytes: number;
  /** Times that putting segments failed, and why the last time; it is tried again. */
  readonly uploadFailures: number;
  readonly lastUploadFailure: string;
  /** Bytes in the spool. */
  readonly spooledBytes: number;
  /** Milliseconds that the oldest segment in the spool has waited for its upload. */
  readonly uploadDelayMs: number;
  /** Milliseconds within which others see a span: until it is in a segment, and the upload of that. */
  readonly delayMs: number;
  /** Times that another process took the spool over, because this one gave no sign of life for a minute. */
  readonly spoolLosses: number;
  /** What this process did to maintain the archive, if it does. */
  readonly maintenance?: MaintenanceStats;
}

/** What an archive is and did. */
export interface ArchiveStats {
  readonly segments: number;
  /** Segments of these that wait to be sorted. */
  readonly unsortedSegments: number;
  /** Spans in segments that can be read; in several where a writer was killed while it was recovering. */
  readonly spans: number;
  /** Bytes of the segments. */
  readonly bytes: number;
  /** Spans of this writer not yet in a segment. */
  readonly bufferedSpans: number;
  readonly walBytes: number;
  /** Write-ahead files of all writers. */
  readonly walFiles: number;
  readonly appendedSpans: number;
  /** Spans refused because too many were held. */
  readonly refusedSpans: number;
  readonly segmentsWritten: number;
  readonly segmentsMerged: number;
  readonly segmentsDeleted: number;
  /** Write-ahead files of writers that died, taken over, and bytes in them that were torn; those too that a `readOnly` archive only reads. */
  readonly recoveredFiles: number;
  readonly recoveredSpans: number;
  readonly tornBytes: number;
  /** Times that making a segment, or something in the background, failed, and why; it is tried again. */
  readonly failures: number;
  readonly lastFailure: string;
  /** Files of dead writers that the worker thread took over and merges that it did. */
  readonly workerTasks: number;
  /** Times that this thread did such work because there was no worker or it failed, and why there was none the last time. */
  readonly workerFallbacks: number;
  readonly workerFailure: string;
  /** Rows of timelines that this process appended, lines of timelines that were torn when it read them, and files of timelines that it deleted. */
  readonly timelineRows: number;
  readonly timelineTornLines: number;
  readonly timelineFilesDeleted: number;
  /** Segments that could not be read, or not all of them; the rest answers. */
  readonly damaged: readonly DamagedSegment[];
  /** Of an archive in an object store. */
  readonly bucket?: BucketStats;
}

/** The bounds in force where none is given. */
export const ARCHIVE_DEFAULTS = {
  readOnly: false,
  mayBeMissing: false,
  maintain: true,
  worker: true,
  unsortedSpans: 1000,
  segmentSpans: 100_000,
  segmentMs: 60_000,
  walBytes: 64 * 1024 * 1024,
  maxBufferedSpans: 500_000,
  maxBufferedBytes: 256 * 1024 * 1024,
  mergedSpans: 300_000,
  openSegments: 128,
  cacheBytes: 64 * 1024 * 1024,
} as const;

/** Options with nothing left open but what may be. */
export type ResolvedArchiveOptions = Required<Omit<ArchiveOptions, keyof Retention | keyof BucketOptions>> & Retention;

/** A segment of many names takes up to thirty times the bytes of its write-ahead file while it is made. */
const HEAP_SHARE = 128;

/** The bound of a write-ahead file in a process whose heap has so many bytes at most. */
const walBytesFor = (heapBytes: number): number =>
  Math.max(1, Math.min(ARCHIVE_DEFAULTS.walBytes, Math.floor(heapBytes / HEAP_SHARE)));

/** Throws `BadOptionsError` for what is not a bound. */
export const resolveOptions = (all: ArchiveOptions): ResolvedArchiveOptions => {
  const { spool, spoolIsShared, spoolBytes, cacheDirectory, cacheDirectoryBytes, onNotice, s3, ...options } = all;
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) {
    const isSwitch = typeof ARCHIVE_DEFAULTS[name as keyof typeof ARCHIVE_DEFAULTS] === 'boolean';
    if (isSwitch) flag(name, value, badOptions);
    else wholeNumber(name, value, [1], badOptions);
  }
  return {
    ...ARCHIVE_DEFAULTS,
    walBytes: walBytesFor(getHeapStatistics().heap_size_limit),
    ...Object.fromEntries(given),
  };
};
