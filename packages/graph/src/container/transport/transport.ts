// How bytes of a file are fetched: batches of ranges, because a slow link pays for every request. Neighbours are fetched together when what
// lies between them costs less than another request. A plan must never fetch a byte twice, nor grow beyond a bound that the ranges themselves
// do not break.

import { constants } from 'node:buffer';
import { throwIfAborted, wholeNumber } from 'spanline/internal/base';
import { aborted, BadOptionsError, badOptions, LimitError, TruncatedError } from '../graph-error.js';

/** A stretch of a file. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** What a transport did: the figures that tests hold every operation to. */
export interface TransportStats {
  /** Round trips: system calls of a file, requests of a server. */
  readonly requests: number;
  /** Ranges asked for. */
  readonly ranges: number;
  /** Bytes received, gaps between merged ranges included. */
  readonly bytes: number;
}

/** The end of a file. */
export interface Tail {
  readonly bytes: Buffer;
  /** Where `bytes` begin. */
  readonly offset: number;
  /** Bytes of the whole file. */
  readonly size: number;
}

/** What a file has from `offset` on before its end, if anything. */
export const beforeTail = (tail: Tail, offset: number): ByteRange | undefined =>
  offset >= tail.offset ? undefined : { offset, length: tail.offset - offset };

/** The end of a file, with what is `before` it. */
export const longerTail = (tail: Tail, before: Buffer | undefined): Tail =>
  before === undefined
    ? tail
    : { ...tail, bytes: Buffer.concat([before, tail.bytes]), offset: tail.offset - before.length };

/** Options of a read. */
export interface TransportReadOptions {
  readonly signal?: AbortSignal;
}

/** Fetches bytes of one file; rejects with a `GraphError`, never with fewer bytes than asked for. */
export interface Transport {
  /** For messages: a path or an address. */
  readonly name: string;
  /** Each range's bytes, in the order asked. Ranges may overlap and need not be sorted. */
  readRanges(ranges: readonly ByteRange[], options?: TransportReadOptions): Promise<Buffer[]>;
  /** The last `length` bytes, or all of a shorter file, and the size; one round trip even when the size is not known. */
  readTail(length: number, options?: TransportReadOptions): Promise<Tail>;
  stats(): TransportStats;
  close(): Promise<void>;
  /**
   * Keep nothing of a range for the next reader: it is damaged as it was read, and may be whole when it is read again.
   * @internal
   */
  forget?(range: ByteRange): void;
}

/** A transport that can also answer at once. */
export interface SyncTransport extends Transport {
  readRangesSync(ranges: readonly ByteRange[]): Buffer[];
  readTailSync(length: number): Tail;
}

/** Throws `AbortedError` when the signal of a read has fired. */
export const checkSignal = (name: string, options: TransportReadOptions | undefined): void =>
  throwIfAborted(options?.signal, `reading ${name}`, aborted);

/** Ranges are merged up to this many bytes; a single range may be larger. */
const MAX_MERGED_BYTES = 16 * 1024 * 1024;

/** One read that answers several ranges. */
interface MergedRange extends ByteRange {
  /** Positions of the ranges in the batch. */
  readonly members: readonly number[];
}

/** Throws unless every range is one that a file of `size` bytes has; an unknown size is left to the answer. */
export const checkRanges = (ranges: readonly ByteRange[], size: number | undefined, name: string): void => {
  for (const { offset, length } of ranges) {
    const end = offset + length;
    if (!(Number.isSafeInteger(offset) && Number.isSafeInteger(end) && offset >= 0 && length >= 0)) {
      throw new BadOptionsError(
        `${length} bytes at ${offset} of ${name} are not a range: both must be whole, from zero on`,
      );
    }
    if (size !== undefined && end > size) {
      throw new TruncatedError(`${name} ends at ${size}, before byte ${end} that was asked for`, end, size);
    }
    if (length > constants.MAX_LENGTH) {
      throw new LimitError(`${length} bytes of ${name} are more than a buffer can hold: read them in parts`);
    }
  }
};

/** A gap between ranges that share a read. */
export const checkGap = (gapBytes: number): number => wholeNumber('gapBytes', gapBytes, [0], badOptions);

/** The last `length` bytes of a file of `size`, or all of a shorter one. */
export const tailRange = (length: number, size: number, name: string): ByteRange => {
  checkRanges([{ offset: 0, length }], undefined, name);
  const offset = Math.max(0, size - length);
  return { offset, length: size - offset };
};

/** The reads for `ranges`, by offset; ranges that overlap, touch or lie at most `gapBytes` apart share one. Empty ranges need none. */
export const mergeRanges = (
  ranges: readonly ByteRange[],
  gapBytes: number,
  maxBytes = MAX_MERGED_BYTES,
): MergedRange[] => {
  const order = [...ranges.keys()].filter((i) => ranges[i].length > 0);
  order.sort((a, b) => ranges[a].offset - ranges[b].offset);
  const merged: { offset: number; length: number; members: number[] }[] = [];
  for (const i of order) {
    const { offset, length } = ranges[i];
    const last = merged.at(-1);
    const lastEnd = last === undefined ? 0 : last.offset + last.length;
    // What overlaps is merged whatever its size, or its bytes would be fetched twice.
    const joins =
      last !== undefined &&
      (offset < lastEnd || (offset - lastEnd <= gapBytes && offset + length - last.offset <= maxBytes));
    if (joins) {
      last.length = Math.max(last.length, offset + length - last.offset);
      last.members.push(i);
    } else {
      merged.push({ offset, length, members: [i] });
    }
  }
  return merged;
};

/** Puts the parts of one read where the batch wants them. The parts are views: whoever keeps one keeps the whole read in memory. */
export const dealOut = (
  ranges: readonly ByteRange[],
  { offset, members }: MergedRange,
  bytes: Buffer,
  results: Buffer[],
): void => {
  for (const i of members) {
    const start = ranges[i].offset - offset;
    results[i] = bytes.subarray(start, start + ranges[i].length);
  }
};

/** A result for each range, empty until it is dealt out. */
export const emptyResults = (ranges: readonly ByteRange[]): Buffer[] => ranges.map(() => Buffer.alloc(0));

/** Each range of a file of `size` bytes, which `read` gives at once, neighbours together. */
export const readMerged = (
  ranges: readonly ByteRange[],
  { size, name, gapBytes }: { readonly size: number; readonly name: string; readonly gapBytes: number },
  read: (merged: ByteRange) => Buffer,
): Buffer[] => {
  checkRanges(ranges, size, name);
  const results = emptyResults(ranges);
  for (const merged of mergeRanges(ranges, gapBytes)) dealOut(ranges, merged, read(merged), results);
  return results;
};
