// What an archive holds at one moment, for one query: segments, what this process holds, what others hold. A file that vanishes meanwhile
// was merged or sealed: the query begins again, so that nothing is missed and nothing comes twice.
import { type GraphError, TransportError } from '@spanline/graph';
import { checkSignal } from '@spanline/graph/internal';
import type { ArchivedSpan } from 'spanline/internal/record';
import type { BufferedSpans } from './buffered-spans.js';
import { VanishedError } from './directory.js';
import type { OtherWriters } from './other-writers.js';
import { scannedSegment, scanSources } from './scan-sources.js';
import type { Listing, PinnedSegment, SegmentSet } from './segment-set.js';
import { type QueryOptions, SegmentSource } from './segment-source.js';
import type { SpanList } from './span-list.js';
import type { TraceSource } from './trace-source.js';

/** Times a query begins; a directory that changes faster is broken. */
const MAX_ATTEMPTS = 100;

interface Snapshot {
  readonly listing: Listing;
  /** Spans in no segment: of this process, then of others. */
  readonly lists: readonly SpanList[];
}

/** What there is, in numbers. */
export interface Sizes {
  readonly segments: number;
  readonly spans: number;
  readonly bytes: number;
  readonly walFiles: number;
}

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
  async run<T>(options: QueryOptions, query: (sources: readonly TraceSource[]) => Promise<T>): Promise<T> {
    return this.#retrying(options, async () => {
      const { listing, lists } = await this.#take(options);
      return query([...lists, ...listing.segments.map((name) => new SegmentSource(this.#set, name, options))]);
    });
  }

  /** All traces of one moment, each whole and once. */
  async *scan(options: QueryOptions): AsyncGenerator<readonly ArchivedSpan[], undefined, void> {
    const { lists, segments } = await this.#retrying(options, () => this.#hold(options));
    try {
      yield* scanSources([...lists, ...segments.map((pinned) => scannedSegment(pinned, options))], options);
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
      return { segments: names.length, spans, bytes: await this.#set.bytesOf(names), walFiles: wals.length };
    });
  }

  async #retrying<T>(options: QueryOptions, work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      checkSignal(this.#set.directory, options);
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof VanishedError)) throw error;
        if (attempt === MAX_ATTEMPTS)
          throw new TransportError(`${this.#set.directory} cannot be read: ${error.message}, again and again`);
      }
    }
  }

  async #take({ onDamage }: QueryOptions): Promise<Snapshot> {
    for (;;) {
      const { seals } = this.#buffered;
      const listing = await this.#set.list();
      // What was held when the directory was read must still be held: else it is in a segment that was not there yet.
      if (this.#buffered.seals !== seals) continue;
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
