// What an archive holds at one moment, for one query: segments, what this process holds, and what others hold, whose write-ahead files are read as
// far as they are written and never changed. A file that vanishes meanwhile was merged or sealed: the query begins again, so that nothing is missed
// and nothing comes twice. A scan gives each trace whole and once, wherever its parts lie; it holds a few traces, and the ids of those that have
// parts in several sources.

import { join } from 'node:path';
import { GraphError } from '@spanline/graph';
import { checkSignal } from '@spanline/graph/internal';
import { getOrMake, isGone } from 'spanline/internal/base';
import type { ArchivedSpan } from 'spanline/internal/record';
import type { ArchiveStats } from './archive-options.js';
import { presentIn, tracesFrom } from './ask-sources.js';
import type { BufferedSpans } from './buffered-spans.js';
import { isInUse, type OwnedName, type Owner, VanishedError } from './directory.js';
import { atOneMoment, type Listing, type PinnedSegment, type SegmentSet } from './segment-set.js';
import { SpanList } from './span-list.js';
import {
  type AskOptions,
  type QueryOptions,
  SegmentSource,
  type TraceParts,
  type TraceSource,
  textsOf,
} from './trace-source.js';
import { WalTail } from './wal/wal-frames.js';

type Trace = readonly ArchivedSpan[];

/** A source that gives all its traces too, as far as they are there. */
interface ScannedSource extends TraceParts {
  scan(): Iterable<Trace> | AsyncIterable<Trace>;
}

/** Traces looked for elsewhere at a time: so many, or when they have so many spans. */
const BATCH_TRACES = 200;
const BATCH_SPANS = 5000;

/** A segment that stays open. */
const scannedSegment = ({ segment, report }: PinnedSegment, { signal }: QueryOptions): ScannedSource => {
  const options = { signal, onDamage: report };
  return {
    possible: async (ids) => textsOf(ids, segment.filter),
    present: async (ids) => {
      const possible = textsOf(ids, segment.filter);
      return possible.length === 0 ? [] : segment.present(possible, options);
    },
    traces: (ids) => segment.traces(ids, options),
    scan: () => segment.scan(options),
  };
};

/** All traces; `sources` are given newest first. */
async function* scanSources(
  sources: readonly ScannedSource[],
  options: AskOptions,
): AsyncGenerator<Trace, undefined, void> {
  const given = new Set<string>();
  for (const [i, source] of sources.entries()) {
    for await (const batch of batchesOf(source.scan())) {
      checkSignal('the archive', options);
      const fresh = batch.filter(([{ traceId }]) => !given.has(traceId));
      const ids = fresh.map(([{ traceId }]) => traceId);
      // Those before would have given it.
      const elsewhere = await presentIn(sources.slice(i + 1), ids, options);
      const split = elsewhere.length === 0 ? undefined : await tracesFrom(sources.slice(i), elsewhere, options);
      for (const id of elsewhere) given.add(id);
      for (const spans of fresh) yield split?.get(spans[0].traceId) ?? spans;
    }
  }
}

async function* batchesOf(traces: Iterable<Trace> | AsyncIterable<Trace>): AsyncGenerator<Trace[], undefined, void> {
  let batch: Trace[] = [];
  let spans = 0;
  for await (const trace of traces) {
    batch.push(trace);
    spans += trace.length;
    if (batch.length < BATCH_TRACES && spans < BATCH_SPANS) continue;
    yield batch;
    batch = [];
    spans = 0;
  }
  if (batch.length > 0) yield batch;
}

interface Other {
  readonly owner: Owner;
  readonly path: string;
  readonly tail: WalTail;
  readonly spans: ArchivedSpan[];
  readonly list: SpanList;
}

/** Follows the write-ahead files of others. */
export class OtherWriters {
  readonly #directory: string;
  readonly #byId = new Map<string, Other>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * What the files of a listing hold now, apart from `ownIds`; `onUnread` is called for one that cannot be read, or not whole. Throws `VanishedError` when one
   * is not there any more.
   */
  read(
    wals: readonly OwnedName[],
    ownIds: ReadonlySet<string>,
    onUnread: (name: string, error: GraphError) => void,
  ): SpanList[] {
    const present = new Set(wals.map(({ id }) => id));
    for (const id of this.#byId.keys()) if (!present.has(id)) this.#byId.delete(id);
    return wals
      .flatMap((wal) => (ownIds.has(wal.id) ? [] : [this.#follow(wal, onUnread)]))
      .filter((list) => !list.isEmpty);
  }

  /** Bytes in them, as far as they were read, that their writers have torn; what a living one is about to write is not. */
  get tornBytes(): number {
    let torn = 0;
    for (const { tail, owner, path } of this.#byId.values()) {
      if (tail.tornBytes > 0 && !isInUse(owner, path)) torn += tail.tornBytes;
    }
    return torn;
  }

  #follow({ id, name, owner }: OwnedName, onUnread: (name: string, error: GraphError) => void): SpanList {
    const other = getOrMake(this.#byId, id, () => {
      const spans: ArchivedSpan[] = [];
      return { owner, path: join(this.#directory, name), tail: new WalTail(), spans, list: new SpanList(spans) };
    });
    try {
      for (const span of other.tail.read(join(this.#directory, name))) other.spans.push(span);
    } catch (error) {
      if (isGone(error)) throw new VanishedError(name);
      if (!(error instanceof GraphError)) throw error;
      onUnread(name, error);
    }
    if (other.tail.damage !== undefined) onUnread(name, other.tail.damage);
    return other.list;
  }
}

interface Snapshot {
  readonly listing: Listing;
  /** Spans in no segment: of this process, then of others. */
  readonly lists: readonly SpanList[];
}

/** What there is, in numbers. */
type Sizes = Pick<ArchiveStats, 'segments' | 'unsortedSegments' | 'spans' | 'bytes' | 'walFiles'>;

/** Makes snapshots of an archive. */
export class Snapshots {
  readonly #set: SegmentSet;
  readonly #buffered: BufferedSpans;
  readonly #others: OtherWriters;

  constructor(set: SegmentSet, buffered: BufferedSpans, others: OtherWriters) {
    this.#set = set;
    this.#buffered = buffered;
    this.#others = others;
  }

  /** What `query` makes of all sources, the newest first. It may be called several times. */
  async run<T>(
    options: QueryOptions,
    query: (sources: readonly TraceSource[], ask: AskOptions) => Promise<T>,
  ): Promise<T> {
    const ask = this.#ask(options);
    return this.#retrying(options, async () => {
      const { listing, lists } = await this.#take(options);
      return query([...lists, ...listing.segments.map((name) => new SegmentSource(this.#set, name, options))], ask);
    });
  }

  /** All traces of one moment, each whole and once. */
  async *scan(options: QueryOptions): AsyncGenerator<readonly ArchivedSpan[], undefined, void> {
    const { lists, segments } = await this.#retrying(options, () => this.#hold(options));
    try {
      yield* scanSources([...lists, ...segments.map((pinned) => scannedSegment(pinned, options))], this.#ask(options));
    } finally {
      for (const { release } of segments) release();
    }
  }

  /** Bytes that writers who are gone have torn in files that nobody has taken over yet, as far as they were read. */
  get tornBytes(): number {
    return this.#others.tornBytes;
  }

  async sizes(): Promise<Sizes> {
    return this.#retrying({}, async () => {
      const { segments, wals } = (await this.#take({})).listing;
      const names = segments.map(({ name }) => name);
      let spans = 0;
      for (const name of names) spans += (await this.#set.card(name))?.info.spanCount ?? 0;
      const unsortedSegments = segments.filter(({ isSorted }) => !isSorted).length;
      const bytes = await this.#set.place.bytesOf(names);
      return { segments: names.length, unsortedSegments, spans, bytes, walFiles: wals.length };
    });
  }

  #ask(options: QueryOptions): AskOptions {
    return { ...options, parallel: this.#set.place.parallel };
  }

  #retrying<T>(options: QueryOptions, work: () => Promise<T>): Promise<T> {
    const { place } = this.#set;
    return atOneMoment(place, () => {
      checkSignal(place.name, options);
      return work();
    });
  }

  async #take({ onDamage }: QueryOptions): Promise<Snapshot> {
    for (;;) {
      const { seals } = this.#buffered;
      const listing = await this.#set.list();
      // What was held when the directory was read must still be held: else it is in a segment that was not there yet.
      if (this.#buffered.seals !== seals) continue;
      for (const fault of this.#set.place.faults?.() ?? []) this.#set.report(fault.file, fault, onDamage);
      const onUnread = (name: string, error: GraphError): void => this.#set.report(name, error, onDamage);
      const others = this.#others.read(listing.wals, this.#buffered.walIds, onUnread);
      return { listing, lists: [...this.#buffered.lists(listing.stoodFor), ...others] };
    }
  }

  /** A snapshot whose segments are all open: then it does not matter what becomes of their files. */
  async #hold(options: QueryOptions): Promise<{ lists: SpanList[]; segments: PinnedSegment[] }> {
    const { listing, lists } = await this.#take(options);
    const segments: PinnedSegment[] = [];
    try {
      for (const { name } of listing.segments) {
        const pinned = await this.#set.hold(name, options.onDamage);
        if (pinned !== undefined) segments.push(pinned);
      }
      return { lists: lists.map((list) => list.fixed()), segments };
    } catch (error) {
      for (const { release } of segments) release();
      throw error;
    }
  }
}
