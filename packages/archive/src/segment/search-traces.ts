// Traces that a search may mean, a few numbers each: where each begins and when. Details are read again when it is known which are
// wanted.

import { GraphError } from '@spanline/graph';
import { badOptions } from '@spanline/graph/internal';
import { getOrMake, wholeNumber } from 'spanline/internal/base';
import { hasSpanConditions, hasTimeConditions } from '../meant-spans.js';
import type { TraceSummary } from '../trace-search.js';
import { Times } from '../values/fields.js';
import { report, storedBytes } from './find-traces.js';
import type { DecodeGroups, Group, GroupReader, Outcome } from './group-reader.js';
import { overlaps, rowsOf, traceIdsAt, withPieces } from './scan-traces.js';
import {
  hasMeantSpan,
  isHopeless,
  lacksLinks,
  mayBeMeant,
  mustSeeAllSpans,
  mustSeeSpans,
  partsFor,
  type SegmentSearch,
} from './search-conditions.js';
import type { SegmentFile, SegmentReadOptions } from './segment-file.js';
import type { TraceRow } from './trace-rows.js';

/** A list that grows. */
class Candidates {
  #groups = new Uint32Array(256);
  #rows = new Uint16Array(256);
  #ranks = new Float64Array(256);
  #starts = new Times(256);
  count = 0;

  /** Trace `row` of group `group`, whose first key has this rank; groups and rows ascend. */
  add(group: number, row: number, rank: number, startUnixNs: bigint): void {
    const { count } = this;
    if (count === this.#groups.length)
      this.#resize(
        Uint32Array.from({ length: count }, (_, i) => i),
        count * 2,
      );
    this.#groups[count] = group;
    this.#rows[count] = row;
    this.#ranks[count] = rank;
    this.#starts.values[count] = startUnixNs;
    this.count++;
  }

  group(i: number): number {
    return this.#groups[i];
  }

  row(i: number): number {
    return this.#rows[i];
  }

  rank(i: number): number {
    return this.#ranks[i];
  }

  /** All, the newest first; those that start at once in the order they came. */
  newestFirst(): Uint32Array {
    const { count } = this;
    const starts = this.#starts;
    return Uint32Array.from({ length: count }, (_, i) => i).sort(
      (a, b) => starts.high(b) - starts.high(a) || starts.low(b) - starts.low(a) || a - b,
    );
  }

  /** Keep only the newest, when there are many more than `most`. */
  trim(max: number): void {
    if (this.count < 2 * max + 256) return;
    this.#resize(this.newestFirst().subarray(0, max).sort(), 2 * max + 256);
  }

  #resize(kept: Uint32Array, capacity: number): void {
    const groups = new Uint32Array(capacity);
    const rows = new Uint16Array(capacity);
    const ranks = new Float64Array(capacity);
    const starts = new Times(capacity);
    kept.forEach((from, to) => {
      groups[to] = this.#groups[from];
      rows[to] = this.#rows[from];
      ranks[to] = this.#ranks[from];
      starts.values[to] = this.#starts.values[from];
    });
    this.#groups = groups;
    this.#rows = rows;
    this.#ranks = ranks;
    this.#starts = starts;
    this.count = kept.length;
  }
}

const DEFAULT_LIMIT = 20;
/** Groups whose trace rows are read at a time. */
const ROW_GROUPS = 1024;
/** Groups whose columns are looked at at a time. */
const COLUMN_GROUPS = 64;
/** Traces looked at first; four times as many each further time. */
const FIRST_TRACES = 64;

/** Of a file that is far away all candidates are looked at in one round, when their groups have so many bytes at most, */
const MAX_AHEAD_BYTES = 8 * 1024 * 1024;
/** and when those looked at first are in more than one of so many of these groups. */
const AHEAD_SHARE = 5;

/** A trace that is meant. */
interface Meant {
  readonly rank: number;
  readonly facts: TraceRow;
}

/** Summaries of the traces that meet all conditions, the newest first. */
export const searchTraces = (
  reader: GroupReader,
  search: SegmentSearch,
  options: SegmentReadOptions = {},
): Promise<TraceSummary[]> => new TraceSearching(reader, search, options).run();

class TraceSearching {
  readonly #file: SegmentFile;
  readonly #reader: GroupReader;
  readonly #search: SegmentSearch;
  readonly #options: SegmentReadOptions;
  readonly #limit: number;
  /** Rows of all groups that are looked at, when they are read at once. */
  #rows: DecodeGroups | undefined;
  /** What was fetched of all candidates. */
  #ahead: DecodeGroups | undefined;

  constructor(reader: GroupReader, search: SegmentSearch, options: SegmentReadOptions) {
    this.#file = reader.file;
    this.#reader = reader;
    this.#search = search;
    this.#options = options;
    this.#limit = wholeNumber('limit', search.limit ?? DEFAULT_LIMIT, [0], badOptions);
  }

  async run(): Promise<TraceSummary[]> {
    const limit = this.#limit;
    if (limit === 0 || isHopeless(this.#file, this.#search)) return [];
    const candidates = await this.#gather();
    const order = candidates.newestFirst();
    const meant: Meant[] = [];
    let size = Math.max(FIRST_TRACES, limit);
    await this.#fetchAhead(candidates, order, size);
    for (let start = 0; start < order.length && meant.length < limit; ) {
      meant.push(...(await this.#meantAmong(candidates, order.subarray(start, start + size))));
      start += size;
      size *= 4;
    }
    return this.#summaries(meant.slice(0, limit));
  }

  /** The traces that may be meant by what is known of them. */
  async #gather(): Promise<Candidates> {
    const file = this.#file;
    const search = this.#search;
    const limit = this.#limit;
    const options = this.#options;
    const { groups } = file;
    const candidates = new Candidates();
    const wantsAll = hasSpanConditions(search);
    for (let start = 0; start < groups.count; ) {
      let end = Math.min(groups.count, start + ROW_GROUPS);
      while (groups.isContinued(end)) end++;
      const wanted: number[] = [];
      let isLinkless = false;
      for (let group = start; group < end; group++) {
        // All pieces of a trace or none.
        if (!groups.isContinued(group)) isLinkless = lacksLinks(file, withPieces(file, group), search);
        if (overlaps(file, group, search) && !isLinkless) wanted.push(group);
      }
      const fetched = await this.#reader.fetch(wanted, [], options);
      if (start === 0 && end === groups.count) this.#rows = fetched;
      const loaded = fetched(wanted);
      for (const number of wanted) {
        // The pieces of a trace count where it begins.
        if (groups.isContinued(number)) continue;
        const rows = rowsOf(file, number, loaded, options);
        rows?.forEach((row, i) => {
          if (!mayBeMeant(row, search)) return;
          candidates.add(number, i, groups.firstRanks[number] + row.rank, row.startUnixNs);
        });
      }
      if (!wantsAll) candidates.trim(limit);
      start = end;
    }
    return candidates;
  }

  /** Those of some candidates, the newest first, that are meant; in the same order. */
  async #meantAmong(candidates: Candidates, some: Uint32Array): Promise<Meant[]> {
    const file = this.#file;
    const search = this.#search;
    const options = this.#options;
    const meant = new Map<number, Meant>();
    const byGroup = new Map<number, number[]>();
    for (const i of Uint32Array.from(some).sort()) {
      getOrMake(byGroup, candidates.group(i), () => []).push(i);
    }
    const groupNumbers = [...byGroup.keys()];
    for (let start = 0; start < groupNumbers.length; start += COLUMN_GROUPS) {
      const numbers = groupNumbers.slice(start, start + COLUMN_GROUPS).flatMap((number) => withPieces(file, number));
      const loaded = this.#rows?.(numbers) ?? (await this.#reader.load(numbers, [], options));
      const unclear: { readonly i: number; readonly group: number; readonly row: TraceRow }[] = [];
      for (const number of groupNumbers.slice(start, start + COLUMN_GROUPS)) {
        const rows = rowsOf(file, number, loaded, options);
        if (rows === undefined) continue;
        for (const i of byGroup.get(number) ?? []) {
          const row = rows[candidates.row(i)];
          if (mustSeeSpans(row, search)) unclear.push({ i, group: number, row });
          else meant.set(i, { rank: candidates.rank(i), facts: row });
        }
      }
      const unclearGroups = [...new Set(unclear.flatMap(({ group }) => withPieces(file, group)))];
      if (unclearGroups.length === 0) continue;
      const columns = hasTimeConditions(search)
        ? await this.#reader.whole(unclearGroups, options)
        : (this.#ahead?.(unclearGroups) ?? (await this.#reader.load(unclearGroups, partsFor(search), options)));
      for (const { i, group, row } of unclear) {
        if (this.#isMeant(group, row, columns)) meant.set(i, { rank: candidates.rank(i), facts: row });
      }
    }
    return Array.from(some, (i) => meant.get(i)).filter((candidate) => candidate !== undefined);
  }

  /**
   * Fetch what all candidates need, where it is far away and needed of many groups at first: what lies between these would be read with them, and again
   * when it is needed.
   */
  async #fetchAhead(candidates: Candidates, order: Uint32Array, atFirst: number): Promise<void> {
    const file = this.#file;
    if (!file.isFar || !mustSeeAllSpans(this.#search) || hasTimeConditions(this.#search)) return;
    const groupsOf = (some: Uint32Array): Set<number> => new Set(Array.from(some, (i) => candidates.group(i)));
    const all = groupsOf(order);
    if (groupsOf(order.subarray(0, atFirst)).size * AHEAD_SHARE <= all.size) return;
    const numbers = [...all].sort((a, b) => a - b).flatMap((number) => withPieces(file, number));
    if (numbers.reduce((sum, number) => sum + storedBytes(file, number), 0) > MAX_AHEAD_BYTES) return;
    // Most keys lie between columns, and so come with them: the first ones are asked for, that those before them do.
    const first = order.reduce((min, i) => Math.min(min, candidates.rank(i)), Number.POSITIVE_INFINITY);
    [this.#ahead] = await Promise.all([
      this.#reader.fetch(numbers, partsFor(this.#search), this.#options),
      first < file.dictionary.keyCount ? traceIdsAt(file, [first], this.#options) : undefined,
    ]);
  }

  #isMeant(number: number, row: TraceRow, columns: Outcome<Group>): boolean {
    const { groups } = this.#file;
    const isCut = groups.isContinued(number + 1);
    return withPieces(this.#file, number).some((piece) => {
      const group = columns.get(piece);
      if (group === undefined) return false;
      if (group instanceof GraphError) {
        report(group, undefined, this.#options);
        return false;
      }
      const [first, end] = isCut ? [0, groups.spanCount(piece)] : [row.first, row.first + row.spanCount];
      return hasMeantSpan(group, first, end, this.#search);
    });
  }

  /** Traces are named last, for that takes reading their keys. */
  async #summaries(meant: readonly Meant[]): Promise<TraceSummary[]> {
    const options = this.#options;
    const ids = await traceIdsAt(
      this.#file,
      meant.map(({ rank }) => rank),
      options,
    );
    return meant.flatMap(({ facts }, i): TraceSummary[] => {
      const id = ids[i];
      if (id instanceof GraphError) {
        report(id, undefined, options);
        return [];
      }
      const { name, service, startUnixNs, endUnixNs, spanCount, errorCount, bytes, isComplete } = facts;
      const durationNs = endUnixNs - startUnixNs;
      return [{ traceId: id, name, service, startUnixNs, durationNs, spanCount, errorCount, bytes, isComplete }];
    });
  }
}
