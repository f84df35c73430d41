// A segment file, open for reading: traces by id, searches, everything in order. It is immutable; any number of readers may share it. Checks what a
// segment has beside its graphs: every column of every group is decoded, and what rows, tables and summary say of the spans is compared with what a
// segment of the same spans would say. A new check belongs here. All spans are in memory meanwhile.

import { isDeepStrictEqual } from 'node:util';
import {
  type BlockCacheStats,
  BufferSink,
  BufferTransport,
  ClosedError,
  CorruptError,
  GraphError,
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
import {
  isDamage,
  type OpenSegmentOptions,
  openSegmentFile,
  type SegmentFile,
  type SegmentReadOptions,
} from './segment-file.js';
import { type SegmentInfo, writeSegment } from './write-segment.js';

/** Groups decoded at a time. */
const BATCH_GROUPS = 16;

/** What a summary says of spans; the rest is of the file, or of how it came to be. */
const CLAIMS = [
  'spanCount',
  'traceCount',
  'startUnixNs',
  'endUnixNs',
  'services',
  'operations',
  'listsAllOperations',
] as const;

/** What is wrong with a segment whose graphs are sound: all damaged groups, or the first claim that does not hold. */
const segmentFaults = async (file: SegmentFile, options?: SegmentReadOptions): Promise<GraphError[]> => {
  const reader = new GroupReader(file);
  const faults: GraphError[] = [];
  for (let first = 0; first < file.groups.count; first += BATCH_GROUPS) {
    const count = Math.min(BATCH_GROUPS, file.groups.count - first);
    const groups = Array.from({ length: count }, (_, i) => first + i);
    for (const group of (await reader.whole(groups, options)).values())
      if (group instanceof GraphError) faults.push(group);
  }
  if (faults.length > 0) return faults;
  try {
    await checkClaims(file, reader, options);
  } catch (error) {
    if (!isDamage(error)) throw error;
    faults.push(error);
  }
  return faults;
};

const checkClaims = async (file: SegmentFile, reader: GroupReader, options?: SegmentReadOptions): Promise<void> => {
  const spans: ArchivedSpan[] = [];
  for await (const trace of scanTraces(file, reader, options)) spans.push(...trace);
  const sink = new BufferSink();
  writeSegment(sink, spans, { compression: 'none' });
  const expected = await openSegmentFile(new BufferTransport(sink.toBuffer()), {});
  for (const claim of CLAIMS)
    if (!isDeepStrictEqual(file.info[claim], expected.info[claim])) throw lie(file, `its ${claim}`, 'summary');
  const [said, right] = [await summaries(file, reader), await summaries(expected, new GroupReader(expected))];
  for (let i = 0; i < Math.max(said.length, right.length); i++)
    if (!isDeepStrictEqual(said[i], right[i])) throw lie(file, `trace ${(said[i] ?? right[i]).traceId}`, 'traceRows');
  for (const { traceId } of right)
    if (file.filter?.mayHave(traceIdBytes(traceId)) === false)
      throw lie(file, `trace ${traceId}, which its filter denies`, 'traceFilter');
};

const summaries = (file: SegmentFile, reader: GroupReader): Promise<TraceSummary[]> =>
  searchTraces(file, reader, { limit: Math.max(1, file.spanCount) }, undefined);

const lie = ({ name }: SegmentFile, what: string, section: string): CorruptError =>
  new CorruptError(`${name} describes ${what} otherwise than its spans do`, section);

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
