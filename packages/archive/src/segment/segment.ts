// A segment file, open for reading: traces by id, searches, everything in order. It is immutable; any number of readers may share it.
import {
  type BlockCacheStats,
  ClosedError,
  type GraphError,
  type Transport,
  type TransportStats,
} from '@spanline/graph';
import { openedFrom } from '@spanline/graph/internal';
import type { ArchivedSpan, TraceSummary } from 'spanline/internal/record';
import { traceIdBytes } from '../values/fields.js';
import { findTraces, presentTraces } from './find-traces.js';
import { GroupReader } from './group-reader.js';
import { listTraces, scanTraces, type TimeRange } from './scan-traces.js';
import type { SegmentSearch } from './search-conditions.js';
import { searchTraces } from './search-traces.js';
import { type OpenSegmentOptions, openSegmentFile, type SegmentFile, type SegmentReadOptions } from './segment-file.js';
import { segmentFaults } from './verify-segment.js';
import type { SegmentInfo } from './write-segment.js';

export type { OpenSegmentOptions, SegmentReadOptions, SegmentSearch, TimeRange };

/** What a reader did. */
export interface SegmentStats {
  readonly transport: TransportStats;
  readonly cache: BlockCacheStats;
}

/**
 * Reads a segment from disk, memory, HTTP or an object store.
 *
 * Open one for each file and keep it: a trace then costs one batch of reads, none when its blocks are in the cache. Everything rejects
 * with a `GraphError`; damage (`CorruptError`, with section and block) spoils only what lies in the block it hit. Close it when done.
 */
export class Segment {
  readonly #transport: Transport;
  readonly #file: SegmentFile;
  readonly #reader: GroupReader;
  #isClosed = false;

  private constructor(transport: Transport, file: SegmentFile) {
    this.#transport = transport;
    this.#file = file;
    this.#reader = new GroupReader(file);
  }

  /** Open a path, an address (http, https, s3), bytes, or a transport of your own. */
  static open(source: string | Uint8Array | Transport, options: OpenSegmentOptions = {}): Promise<Segment> {
    return openedFrom(source, async (transport) => new Segment(transport, await openSegmentFile(transport, options)));
  }

  /** What the segment holds; nothing is read for it. */
  get info(): SegmentInfo {
    return this.#file.info;
  }

  /** False when the trace, 32 hex digits, is not there for sure; true for one trace in 256 that is not. Reads nothing. */
  mayHave(traceId: string): boolean {
    return this.filter(traceIdBytes(traceId));
  }

  /** `mayHave` of the 16 bytes of an id, that needs no open segment. */
  get filter(): (traceId: Uint8Array) => boolean {
    const { filter, info } = this.#file;
    const isEmpty = info.spanCount === 0;
    return (traceId) => !isEmpty && filter?.mayHave(traceId) !== false;
  }

  /**
   * The traces that are there of those asked for, by id: the spans of each, the root first and every span before its children. Thousands
   * take hardly more reads than one.
   */
  async traces(ids: readonly string[], options?: SegmentReadOptions): Promise<Map<string, ArchivedSpan[]>> {
    this.#checkOpen();
    return findTraces(this.#file, this.#reader, ids, options);
  }

  /** Those of some traces that are there, for sure, in no order; only keys are read. */
  async present(ids: readonly string[], options?: SegmentReadOptions): Promise<string[]> {
    this.#checkOpen();
    return presentTraces(this.#file, ids, options);
  }

  /** Summaries of the traces that meet all conditions, the newest first; of equal starts by trace id. 20 unless `limit` says otherwise. */
  async summaries(search: SegmentSearch = {}, options?: SegmentReadOptions): Promise<TraceSummary[]> {
    this.#checkOpen();
    return searchTraces(this.#file, this.#reader, search, options);
  }

  /** The ids of the traces that lie in a stretch of time, some at a time; no span is read for them. */
  traceIds(range: TimeRange = {}, options?: SegmentReadOptions): AsyncIterable<readonly string[]> {
    this.#checkOpen();
    return listTraces(this.#file, this.#reader, range, options);
  }

  /** All traces by id, a whole one at a time. */
  scan(options?: SegmentReadOptions): AsyncIterable<ArchivedSpan[]> {
    this.#checkOpen();
    return scanTraces(this.#file, this.#reader, options);
  }

  /**
   * What is damaged, or said of the spans and not so; empty for a sound segment. It checks what is in the columns: `spanline graph verify`
   * asks it for segments, after it has checked the file as a graph file. All spans are in memory meanwhile.
   */
  async faults(options?: SegmentReadOptions): Promise<GraphError[]> {
    this.#checkOpen();
    this.#file.cache.clear();
    return segmentFaults(this.#file, options);
  }

  stats(): SegmentStats {
    return { transport: this.#transport.stats(), cache: this.#file.cache.stats() };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#transport.close();
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new ClosedError(`${this.#file.name} is closed`);
  }
}
