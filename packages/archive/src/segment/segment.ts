// A segment file, open for reading: traces by id, searches, everything in order. It is immutable; any number of readers may share it. An unsorted one
// answers what it cannot find in single batches as the sorted one that it is in memory then. Checks what a segment has beside its graphs: every column of
// every group is decoded, and what rows, tables and summary say of the spans is compared with what a segment of the same spans would say. A new check
// belongs here, and into `unsorted-file.ts` for what is not sorted yet. All spans are in memory meanwhile.

import { isDeepStrictEqual } from 'node:util';
import {
  BlockCache,
  type BlockCacheStats,
  BufferSink,
  BufferTransport,
  ClosedError,
  Container,
  CorruptError,
  GraphError,
  SectionId,
  type Transport,
  type TransportStats,
} from '@spanline/graph';
import { decodeMeta, openedFrom } from '@spanline/graph/internal';
import type { ArchivedSpan } from 'spanline/internal/record';
import { SpanRows } from '../rows/span-rows.js';
import type { TraceSummary } from '../trace-search.js';
import { traceIdBytes } from '../values/fields.js';
import { findTraces, presentTraces, report, type TraceExtent, traceExtents } from './find-traces.js';
import { GroupReader } from './group-reader.js';
import { SegmentSection } from './layout.js';
import { listTraces, scanTraces, type TimeRange } from './scan-traces.js';
import { isHopeless, type SegmentSearch } from './search-conditions.js';
import { searchTraces } from './search-traces.js';
import {
  isDamage,
  type OpenSegmentOptions,
  openSegmentFile,
  type SegmentFile,
  type SegmentReadOptions,
} from './segment-file.js';
import { UnsortedFile } from './unsorted-file.js';
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
const segmentFaults = async (reader: GroupReader, options?: SegmentReadOptions): Promise<GraphError[]> => {
  const { groups: table } = reader.file;
  const faults: GraphError[] = [];
  for (let first = 0; first < table.count; first += BATCH_GROUPS) {
    const count = Math.min(BATCH_GROUPS, table.count - first);
    const groups = Array.from({ length: count }, (_, i) => first + i);
    for (const group of (await reader.whole(groups, options)).values())
      if (group instanceof GraphError) faults.push(group);
  }
  if (faults.length > 0) return faults;
  try {
    await checkClaims(reader, options);
  } catch (error) {
    if (!isDamage(error)) throw error;
    faults.push(error);
  }
  return faults;
};

const checkClaims = async (reader: GroupReader, options?: SegmentReadOptions): Promise<void> => {
  const { file } = reader;
  const spans: ArchivedSpan[] = [];
  for await (const trace of scanTraces(reader, options)) spans.push(...trace);
  const sink = new BufferSink();
  writeSegment(sink, spans, { compression: 'none' });
  const expected = new GroupReader(await openSegmentFile(new BufferTransport(sink.toBuffer()), {}));
  for (const claim of CLAIMS)
    if (!isDeepStrictEqual(file.info[claim], expected.file.info[claim])) throw lie(file, `its ${claim}`, 'summary');
  const [said, right] = [await summaries(reader), await summaries(expected)];
  for (let i = 0; i < Math.max(said.length, right.length); i++)
    if (!isDeepStrictEqual(said[i], right[i])) throw lie(file, `trace ${(said[i] ?? right[i]).traceId}`, 'traceRows');
  const extents = await traceExtents(
    reader,
    right.map(({ traceId }) => traceId),
    options,
  );
  for (const { traceId, startUnixNs, durationNs } of right) {
    const extent = extents.get(traceId);
    if (extent === undefined || extent.startUnixNs > startUnixNs || extent.endUnixNs < startUnixNs + durationNs)
      throw lie(file, `the mark of trace ${traceId}`, 'traceRows');
  }
  for (const { traceId } of right)
    if (file.filter?.mayHave(traceIdBytes(traceId)) === false)
      throw lie(file, `trace ${traceId}, which its filter denies`, 'traceFilter');
};

const summaries = (reader: GroupReader): Promise<TraceSummary[]> =>
  searchTraces(reader, { limit: Math.max(1, reader.file.spanCount) });

const lie = ({ name }: SegmentFile, what: string, section: string): CorruptError =>
  new CorruptError(`${name} describes ${what} otherwise than its spans do`, section);

export type { OpenSegmentOptions, SegmentReadOptions, SegmentSearch, TimeRange };

/** What a reader did. */
export interface SegmentStats {
  readonly transport: TransportStats;
  readonly cache: BlockCacheStats;
}

/** A sorted segment in memory, and what of the unsorted one is damaged, and so not in it. */
interface SortedForm {
  readonly sorted: GroupReader;
  readonly damage: readonly GraphError[];
}

/** Sorted forms have so many times the bytes of decoded blocks at most: one that is not kept has to be made again. */
const SORTED_SHARE = 4;

/** By the cache of the blocks of some segments: their sorted forms, those used longest ago dropped first. */
const sortedForms = new WeakMap<BlockCache, BlockCache<SortedForm>>();
let unsortedOpened = 0;

/** An unsorted segment as the sorted one that is made of it, in memory, when somebody asks; what of it is damaged is reported each time. */
class SortedInMemory {
  readonly #file: UnsortedFile;
  readonly #cache: BlockCache;
  readonly #forms: BlockCache<SortedForm>;
  readonly #key = unsortedOpened++;
  #making: Promise<SortedForm> | undefined;

  constructor(file: UnsortedFile, cache: BlockCache) {
    this.#file = file;
    this.#cache = cache;
    this.#forms = sortedForms.get(cache) ?? new BlockCache(SORTED_SHARE * cache.maxBytes);
    sortedForms.set(cache, this.#forms);
  }

  async get(options: SegmentReadOptions = {}): Promise<GroupReader> {
    const { sorted, damage } = this.#forms.get(this.#key) ?? (await this.#make());
    for (const error of damage) report(error, undefined, options);
    return sorted;
  }

  /** The sorted form where it is made already and nothing of it is missing. */
  get atHand(): GroupReader | undefined {
    const form = this.#forms.get(this.#key);
    return form?.damage.length === 0 ? form.sorted : undefined;
  }

  forget(): void {
    this.#forms.delete(this.#key);
  }

  #make(): Promise<SortedForm> {
    this.#making ??= this.#sort().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #sort(): Promise<SortedForm> {
    const rows = new SpanRows(1 + this.#file.info.spanCount);
    const damage = await this.#file.addTo(rows);
    const sink = new BufferSink();
    writeSegment(sink, rows, { compression: 'none' });
    const bytes = sink.toBuffer();
    const transport = new BufferTransport(bytes, { name: this.#file.name });
    const form = { sorted: new GroupReader(await openSegmentFile(transport, { cache: this.#cache })), damage };
    this.#forms.set(this.#key, form, bytes.length);
    return form;
  }
}

/**
 * Reads a segment from disk, memory, HTTP or an object store.
 *
 * Open one for each file and keep it: a trace then costs one batch of reads, none when its blocks are in the cache. Everything rejects
 * with a `GraphError`; damage (`CorruptError`, with section and block) spoils only what lies in the block it hit. Close it when done.
 * Of an unsorted segment a trace costs the decoding of a block, some thousand spans, until the first search sorts all of it in memory.
 */
export class Segment {
  readonly #transport: Transport;
  readonly #cache: BlockCache;
  readonly #sorted: GroupReader | SortedInMemory;
  readonly #unsorted: UnsortedFile | undefined;
  /** What the segment holds; nothing is read for it. Of an unsorted one `traceCount` counts a trace once for each run of its spans. */
  readonly info: SegmentInfo;
  #isClosed = false;

  private constructor(transport: Transport, cache: BlockCache, file: SegmentFile | UnsortedFile) {
    this.#transport = transport;
    this.#cache = cache;
    this.info = file.info;
    this.#unsorted = file instanceof UnsortedFile ? file : undefined;
    this.#sorted = file instanceof UnsortedFile ? new SortedInMemory(file, cache) : new GroupReader(file);
  }

  /** Open a path, an address (http, https, s3), bytes, or a transport of your own. */
  static open(source: string | Uint8Array | Transport, options: OpenSegmentOptions = {}): Promise<Segment> {
    const cache = options.cache instanceof BlockCache ? options.cache : new BlockCache(options.cache);
    return openedFrom(
      source,
      async (transport) => new Segment(transport, cache, await openEither(transport, { ...options, cache })),
    );
  }

  /** Whether traces lie together in it, found by an index; false for a batch of what a process wrote, until it is merged. */
  get isSorted(): boolean {
    return this.#unsorted === undefined;
  }

  /** False when the trace, 32 hex digits, is not there for sure; true for one trace in 256 that is not. Reads nothing. */
  mayHave(traceId: string): boolean {
    return this.filter(traceIdBytes(traceId));
  }

  /** `mayHave` of the 16 bytes of an id, that needs no open segment. */
  get filter(): (traceId: Uint8Array) => boolean {
    if (this.#sorted instanceof SortedInMemory) return (this.#unsorted as UnsortedFile).filter;
    const { filter, info } = this.#sorted.file;
    const isEmpty = info.spanCount === 0;
    return (traceId) => !isEmpty && filter?.mayHave(traceId) !== false;
  }

  /**
   * The last words of the ids of the traces of an unsorted segment, some more than once; nothing is read for them.
   * @internal
   */
  traceWords(): Iterable<number> {
    return (this.#unsorted as UnsortedFile).traceWords();
  }

  /**
   * The traces that are there of those asked for, by id: the spans of each, the root first and every span before its children. Thousands
   * take hardly more reads than one.
   */
  async traces(ids: readonly string[], options?: SegmentReadOptions): Promise<Map<string, ArchivedSpan[]>> {
    this.#checkOpen();
    const sorted = this.#atHand;
    if (sorted === undefined) return (this.#unsorted as UnsortedFile).traces(ids, options);
    return findTraces(sorted, ids, options);
  }

  /** Those of some traces that are there, for sure, in no order; only keys are read. */
  async present(ids: readonly string[], options?: SegmentReadOptions): Promise<string[]> {
    this.#checkOpen();
    const sorted = this.#atHand;
    if (sorted === undefined) return [...(await (this.#unsorted as UnsortedFile).traces(ids, options)).keys()];
    return presentTraces(sorted.file, ids, options);
  }

  /**
   * Within which times those of some traces lie that are there, at most; no spans and hardly any keys are read for it.
   * @internal
   */
  async extents(ids: readonly string[], options?: SegmentReadOptions): Promise<Map<string, TraceExtent>> {
    this.#checkOpen();
    return traceExtents(await this.#reader(options), ids, options);
  }

  /** Summaries of the traces that meet all conditions, the newest first; of equal starts by trace id. 20 unless `limit` says otherwise. */
  async summaries(search: SegmentSearch = {}, options?: SegmentReadOptions): Promise<TraceSummary[]> {
    this.#checkOpen();
    // Nothing is sorted for it.
    if (this.#unsorted !== undefined && isHopeless(this, search)) return [];
    return searchTraces(await this.#reader(options), search, options);
  }

  /** The ids of the traces that lie in a stretch of time, some at a time; no span is read for them. */
  async *traceIds(
    range: TimeRange = {},
    options?: SegmentReadOptions,
  ): AsyncGenerator<readonly string[], undefined, void> {
    this.#checkOpen();
    yield* listTraces(await this.#reader(options), range, options);
  }

  /** All traces by id, a whole one at a time. */
  async *scan(options?: SegmentReadOptions): AsyncGenerator<ArchivedSpan[], undefined, void> {
    this.#checkOpen();
    yield* scanTraces(await this.#reader(options), options);
  }

  /**
   * Append all spans to `rows`. Rejects for the first damage.
   * @internal
   */
  async addTo(rows: SpanRows): Promise<void> {
    if (this.#unsorted === undefined) {
      for await (const trace of this.scan()) for (const span of trace) rows.add(span);
      return;
    }
    this.#checkOpen();
    const [damage] = await this.#unsorted.addTo(rows);
    if (damage !== undefined) throw damage;
  }

  /**
   * What is damaged, or said of the spans and not so; empty for a sound segment. It checks what is in the columns: `spanline graph verify`
   * asks it for segments, after it has checked the file as a graph file. All spans are in memory meanwhile.
   */
  async faults(options?: SegmentReadOptions): Promise<GraphError[]> {
    this.#checkOpen();
    this.#cache.clear();
    if (this.#unsorted !== undefined) return this.#unsorted.faults(options);
    return segmentFaults(await this.#reader(options), options);
  }

  stats(): SegmentStats {
    return { transport: this.#transport.stats(), cache: this.#cache.stats() };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#sorted instanceof SortedInMemory) this.#sorted.forget();
    await this.#transport.close();
  }

  /** Undefined where blocks of an unsorted segment are decoded for less than sorting all of it. */
  get #atHand(): GroupReader | undefined {
    return this.#sorted instanceof GroupReader ? this.#sorted : this.#sorted.atHand;
  }

  async #reader(options?: SegmentReadOptions): Promise<GroupReader> {
    return this.#sorted instanceof GroupReader ? this.#sorted : this.#sorted.get(options);
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new ClosedError(`${this.#transport.name} is closed`);
  }
}

/** The segment behind `transport`, of either form. */
const openEither = async (transport: Transport, options: OpenSegmentOptions): Promise<SegmentFile | UnsortedFile> => {
  const container = await Container.open(transport, options);
  const meta = container.find(SectionId.meta);
  if (container.find(SegmentSection.batches) === undefined || meta === undefined)
    return openSegmentFile(transport, options, container);
  const [bytes] = await container.read([meta], options);
  return UnsortedFile.open(container, decodeMeta(bytes, transport.name).notes, options);
};
