// What a search needs of anything that holds traces, a segment or spans in memory; trace ids as it hands them on; the names of services and of their
// spans over all sources; and a segment of a listing as a source, of which what is damaged is reported and left out. No spans are read for the names
// but those in no segment yet.

import type { ArchivedKind, ArchivedSpan } from 'spanline/internal/record';
import type { SegmentName } from './directory.js';
import type { NamedSearch } from './meant-spans.js';
import type { TraceExtent } from './segment/find-traces.js';
import { isHopeless, lacksOperation } from './segment/search-conditions.js';
import type { Segment, SegmentSearch, TimeRange } from './segment/segment.js';
import type { SegmentReadOptions } from './segment/segment-file.js';
import type { SegmentOperation } from './segment/segment-summary.js';
import type { OnDamage, SegmentSet } from './segment-set.js';
import { shownName } from './trace-facts.js';
import type { TraceSummary } from './trace-search.js';
import { compare, traceIdBytes } from './values/fields.js';

/** A trace id as it is written, and as filters look it up. */
export interface TraceId {
  readonly text: string;
  readonly bytes: Uint8Array;
}

/** Parsed once for all sources. */
export const traceIdsOf = (texts: readonly string[]): TraceId[] =>
  texts.map((text) => ({ text, bytes: traceIdBytes(text) }));

/** The ids that a filter lets through, as they are written. */
export const textsOf = (ids: readonly TraceId[], mayHave: (bytes: Uint8Array) => boolean): string[] => {
  const texts: string[] = [];
  for (const { text, bytes } of ids) if (mayHave(bytes)) texts.push(text);
  return texts;
};

/** Gives traces, or parts of them, by id. */
export interface TraceParts {
  /** Those of some traces that may be there. */
  possible(ids: readonly TraceId[]): Promise<readonly string[]>;
  /** Those that are there. */
  present(ids: readonly TraceId[]): Promise<readonly string[]>;
  /** The spans of traces that are there. */
  traces(ids: readonly string[]): Promise<ReadonlyMap<string, readonly ArchivedSpan[]>>;
}

/** Holds traces, or parts of them. */
export interface TraceSource extends TraceParts {
  /** Unix nanoseconds: no span starts before, none starts or ends after. */
  readonly startUnixNs: bigint;
  readonly endUnixNs: bigint;
  /** Traces that meet all conditions as far as they are here, the newest first. */
  summaries(search: SegmentSearch): Promise<readonly TraceSummary[]>;
  /** Within which times those of some traces lie that are there: no part lies outside, and one that is not there may be taken for there. */
  extents(ids: readonly string[]): Promise<ReadonlyMap<string, TraceExtent>>;
  /** Whether a span here may meet the conditions of spans. Reads nothing but what is known of the source. */
  mayMean(search: NamedSearch): Promise<boolean>;
  /** Calls `take` with the ids of all traces that lie in `range` as far as they are here, some at a time, and waits for it. */
  eachId(range: TimeRange, take: (ids: readonly string[]) => Promise<void>): Promise<void>;
  /** Services and the names of their spans. */
  operations(): Promise<ReadonlyMap<string, readonly SegmentOperation[]>>;
}

/** A name spans of a service have. */
export interface Operation {
  readonly name: string;
  readonly kind: ArchivedKind;
}

/** Sorted. */
export const servicesOf = async (sources: readonly TraceSource[], unnamed?: string): Promise<string[]> => {
  const services = new Set<string>();
  for (const source of sources) {
    for (const service of (await source.operations()).keys()) services.add(shownName(service, unnamed));
  }
  return [...services].sort();
};

/** Sorted by name, then kind. */
export const operationsOf = async (
  sources: readonly TraceSource[],
  service: string,
  unnamed?: string,
): Promise<Operation[]> => {
  const operations = new Map<string, Operation>();
  for (const source of sources) {
    for (const [name, list] of await source.operations()) {
      if (shownName(name, unnamed) !== service) continue;
      for (const operation of list) operations.set(`${operation.kind} ${operation.name}`, operation);
    }
  }
  return [...operations.values()].sort((a, b) => compare(a.name, b.name) || compare(a.kind, b.kind));
};

/** How one query reads. */
export interface QueryOptions {
  readonly signal?: AbortSignal;
  readonly onDamage?: OnDamage;
  /** A search was ended by its bound, and nothing that ended later than this was left out of what it found. */
  readonly onOver?: (latestUnixNs: bigint) => void;
  /** What spans are listed and found under whose resource names no service. Default: OpenTelemetry's `unknown_service`. */
  readonly unnamedService?: string;
}

/** How the sources of one query are asked. */
export interface AskOptions extends QueryOptions {
  /** How many sources are asked at a time. Default 1. */
  readonly parallel?: number;
  /** Whether a search may not go on, because it has read too much. Default: it may. */
  readonly isOver?: () => boolean;
}

const NS_PER_MS = 1_000_000n;

/** A segment, opened when it is asked. */
export class SegmentSource implements TraceSource {
  readonly startUnixNs: bigint;
  readonly endUnixNs: bigint;
  readonly name: string;
  readonly #set: SegmentSet;
  readonly #options: QueryOptions;

  constructor(set: SegmentSet, { name, startMs, endMs }: SegmentName, options: QueryOptions) {
    this.#set = set;
    this.#options = options;
    this.name = name;
    this.startUnixNs = BigInt(startMs) * NS_PER_MS;
    this.endUnixNs = BigInt(endMs) * NS_PER_MS;
  }

  async possible(ids: readonly TraceId[]): Promise<readonly string[]> {
    const card = await this.#set.card(this.name, this.#options.onDamage);
    return card === undefined ? [] : textsOf(ids, card.mayHave);
  }

  async present(ids: readonly TraceId[]): Promise<readonly string[]> {
    const possible = await this.possible(ids);
    if (possible.length === 0) return [];
    return (await this.#use((segment, options) => segment.present(possible, options))) ?? [];
  }

  async traces(ids: readonly string[]): Promise<ReadonlyMap<string, readonly ArchivedSpan[]>> {
    return (await this.#use((segment, options) => segment.traces(ids, options))) ?? new Map();
  }

  async summaries(search: SegmentSearch): Promise<readonly TraceSummary[]> {
    const card = await this.#set.card(this.name, this.#options.onDamage);
    if (card !== undefined && isHopeless(card, search)) return [];
    return (await this.#use((segment, options) => segment.summaries(search, options))) ?? [];
  }

  async extents(ids: readonly string[]): Promise<ReadonlyMap<string, TraceExtent>> {
    return (await this.#use((segment, options) => segment.extents(ids, options))) ?? new Map();
  }

  async mayMean(search: NamedSearch): Promise<boolean> {
    const card = await this.#set.card(this.name, this.#options.onDamage);
    return card !== undefined && !lacksOperation(card.info, search);
  }

  async eachId(range: TimeRange, take: (ids: readonly string[]) => Promise<void>): Promise<void> {
    await this.#use(async (segment, options) => {
      for await (const ids of segment.traceIds(range, options)) await take(ids);
    });
  }

  async operations(): Promise<ReadonlyMap<string, readonly SegmentOperation[]>> {
    return (await this.#set.card(this.name, this.#options.onDamage))?.info.operations ?? new Map();
  }

  #use<T>(work: (segment: Segment, options: SegmentReadOptions) => Promise<T>): Promise<T | undefined> {
    const { signal, onDamage } = this.#options;
    return this.#set.use(this.name, (segment, report) => work(segment, { signal, onDamage: report }), onDamage);
  }
}
