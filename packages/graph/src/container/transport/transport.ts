// How bytes of a file are fetched: batches of ranges, because a slow link pays for every request.
import { throwIfAborted } from 'spanline/internal/base';
import { aborted } from '../graph-error.js';

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
}

/** A transport that can also answer at once. */
export interface SyncTransport extends Transport {
  readRangesSync(ranges: readonly ByteRange[]): Buffer[];
  readTailSync(length: number): Tail;
}

/** Throws `AbortedError` when the signal of a read has fired. */
export const checkSignal = (name: string, options: TransportReadOptions | undefined): void =>
  throwIfAborted(options?.signal, `reading ${name}`, aborted);
