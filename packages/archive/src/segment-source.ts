// A segment of a listing as a source of traces. What is damaged is reported and left out.
import type { ArchivedSpan, NamedSearch, TraceSummary } from 'spanline/internal/record';
import type { SegmentName } from './directory.js';
import { lacksOperation } from './segment/search-conditions.js';
import type { Segment, SegmentSearch, TimeRange } from './segment/segment.js';
import type { SegmentReadOptions } from './segment/segment-file.js';
import type { SegmentOperation } from './segment/segment-summary.js';
import type { OnDamage, SegmentSet } from './segment-set.js';
import { type TraceId, type TraceSource, textsOf } from './trace-source.js';

/** How one query reads. */
export interface QueryOptions {
  readonly signal?: AbortSignal;
  readonly onDamage?: OnDamage;
  /** What spans are listed and found under whose resource names no service. Default: OpenTelemetry's `unknown_service`. */
  readonly unnamedService?: string;
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
    return (await this.#use((segment, options) => segment.summaries(search, options))) ?? [];
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
    return this.#set.use(
      this.name,
      (segment, report) => work(segment, { ...(signal === undefined ? {} : { signal }), onDamage: report }),
      onDamage,
    );
  }
}
