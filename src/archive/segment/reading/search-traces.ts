// Searches a segment: first by what is known of each trace, newest first, and only as far as a condition needs them by the columns of
// spans. It holds a few bytes for each trace that may be meant, and the groups it is looking at.
import { BadOptionsError, CorruptError, GraphError } from '../../../graph/graph-error.js';
import type { TraceSummary } from '../../archived-span.js';
import { hasSpanConditions, hasTimeConditions } from '../../span-conditions.js';
import type { TraceRow } from '../columns/trace-rows.js';
import { TRACE_ID_BYTES } from '../ids.js';
import { Candidates } from './candidates.js';
import { isDamage } from './damage.js';
import { report } from './find-traces.js';
import type { Group, GroupReader, Outcome } from './group-reader.js';
import type { SegmentReadOptions } from './read-options.js';
import {
  hasMeantSpan,
  isHopeless,
  mayBeMeant,
  mustSeeSpans,
  partsFor,
  type SegmentSearch,
} from './search-conditions.js';
import type { SegmentFile } from './segment-file.js';

const DEFAULT_LIMIT = 20;
/** Groups whose trace rows are read at a time. */
const ROW_GROUPS = 1024;
/** Groups whose columns are looked at at a time. */
const COLUMN_GROUPS = 64;
/** Traces looked at first; four times as many each further time. */
const FIRST_TRACES = 64;

/** A trace that is meant. */
interface Meant {
  readonly group: number;
  readonly facts: TraceRow;
}

/** Summaries of the traces that meet all conditions, the newest first. */
export const searchTraces = (
  file: SegmentFile,
  reader: GroupReader,
  search: SegmentSearch,
  options: SegmentReadOptions = {},
): Promise<TraceSummary[]> => new TraceSearching(file, reader, search, options).run();

class TraceSearching {
  private readonly limit: number;

  constructor(
    private readonly file: SegmentFile,
    private readonly reader: GroupReader,
    private readonly search: SegmentSearch,
    private readonly options: SegmentReadOptions,
  ) {
    this.limit = search.limit ?? DEFAULT_LIMIT;
    if (!(Number.isSafeInteger(this.limit) && this.limit >= 0)) {
      throw new BadOptionsError(`limit is ${this.limit}, it must be a whole number from zero on`);
    }
  }

  async run(): Promise<TraceSummary[]> {
    const { file, search, limit } = this;
    if (limit === 0 || isHopeless(file, search)) return [];
    const candidates = await this.gather();
    const order = candidates.newestFirst();
    const meant: Meant[] = [];
    let size = Math.max(FIRST_TRACES, limit);
    for (let start = 0; start < order.length && meant.length < limit; ) {
      meant.push(...(await this.meantAmong(candidates, order.subarray(start, start + size))));
      start += size;
      size *= 4;
    }
    return this.summaries(meant.slice(0, limit));
  }

  /** The traces that may be meant by what is known of them. */
  private async gather(): Promise<Candidates> {
    const { file, search, limit } = this;
    const { groups } = file;
    const candidates = new Candidates();
    const wantsAll = hasSpanConditions(search);
    for (let start = 0; start < groups.count; ) {
      let end = Math.min(groups.count, start + ROW_GROUPS);
      while (groups.isContinued(end)) end++;
      const wanted: number[] = [];
      for (let group = start; group < end; group++) if (this.overlaps(group)) wanted.push(group);
      const loaded = await this.reader.load(wanted, [], this.options);
      for (const number of wanted) {
        // The pieces of a trace count where it begins.
        if (groups.isContinued(number)) continue;
        const rows = this.rowsOf(number, loaded);
        rows?.forEach((row, i) => {
          if (mayBeMeant(row, search)) candidates.add(number, i, row.startUnixNs);
        });
      }
      if (!wantsAll) candidates.trim(limit);
      start = end;
    }
    return candidates;
  }

  /** Whether a group, or the pieces it begins, may lie in the time searched. */
  private overlaps(group: number): boolean {
    const { groups } = this.file;
    const { startsFromUnixNs, fromUnixNs, toUnixNs } = this.search;
    // Pieces are told from each other when all are there.
    if (groups.isContinued(group) || groups.isContinued(group + 1)) return true;
    if (startsFromUnixNs !== undefined && groups.ends[group] < startsFromUnixNs) return false;
    if (fromUnixNs !== undefined && groups.ends[group] < fromUnixNs) return false;
    return toUnixNs === undefined || groups.starts[group] <= toUnixNs;
  }

  /** The rows of a group; of a trace in pieces one row for all. Undefined when it is damaged, which is told. */
  private rowsOf(number: number, loaded: Outcome<Group>): readonly TraceRow[] | undefined {
    const { groups } = this.file;
    const pieces: TraceRow[] = [];
    for (let piece = number; piece === number || groups.isContinued(piece); piece++) {
      const group = loaded.get(piece);
      if (group instanceof GraphError) {
        report(group, undefined, this.options);
        return undefined;
      }
      if (group === undefined) return undefined;
      if (piece === number && !groups.isContinued(number + 1)) return group.traceRows;
      pieces.push(group.traceRows[0]);
    }
    return [pieces.reduce(joined)];
  }

  /** Those of some candidates, the newest first, that are meant; in the same order. */
  private async meantAmong(candidates: Candidates, some: Uint32Array): Promise<Meant[]> {
    const { search, options } = this;
    const meant = new Map<number, Meant>();
    const byGroup = new Map<number, number[]>();
    for (const i of Uint32Array.from(some).sort()) {
      const group = candidates.group(i);
      const others = byGroup.get(group);
      if (others === undefined) byGroup.set(group, [i]);
      else others.push(i);
    }
    const groupNumbers = [...byGroup.keys()];
    for (let start = 0; start < groupNumbers.length; start += COLUMN_GROUPS) {
      const numbers = groupNumbers.slice(start, start + COLUMN_GROUPS).flatMap((number) => this.withPieces(number));
      const loaded = await this.reader.load(numbers, [], options);
      const unclear: { readonly i: number; readonly group: number; readonly row: TraceRow }[] = [];
      for (const number of groupNumbers.slice(start, start + COLUMN_GROUPS)) {
        const rows = this.rowsOf(number, loaded);
        if (rows === undefined) continue;
        for (const i of byGroup.get(number) ?? []) {
          const row = rows[candidates.row(i)];
          if (mustSeeSpans(row, search)) unclear.push({ i, group: number, row });
          else meant.set(i, { group: number, facts: row });
        }
      }
      const unclearGroups = [...new Set(unclear.flatMap(({ group }) => this.withPieces(group)))];
      if (unclearGroups.length === 0) continue;
      const columns = hasTimeConditions(search)
        ? await this.reader.whole(unclearGroups, options)
        : await this.reader.load(unclearGroups, partsFor(search), options);
      for (const { i, group, row } of unclear) {
        if (this.isMeant(group, row, columns)) meant.set(i, { group, facts: row });
      }
    }
    return Array.from(some, (i) => meant.get(i)).filter((candidate) => candidate !== undefined);
  }

  private isMeant(number: number, row: TraceRow, columns: Outcome<Group>): boolean {
    const { groups } = this.file;
    const isCut = groups.isContinued(number + 1);
    return this.withPieces(number).some((piece) => {
      const group = columns.get(piece);
      if (group === undefined) return false;
      if (group instanceof GraphError) {
        report(group, undefined, this.options);
        return false;
      }
      const [first, end] = isCut ? [0, groups.spanCount(piece)] : [row.first, row.first + row.spanCount];
      return hasMeantSpan(group, first, end, this.search);
    });
  }

  private withPieces(number: number): number[] {
    const pieces = [number];
    while (this.file.groups.isContinued(pieces[pieces.length - 1] + 1)) pieces.push(pieces[pieces.length - 1] + 1);
    return pieces;
  }

  /** Traces are named last, for that takes reading their keys. */
  private async summaries(meant: readonly Meant[]): Promise<TraceSummary[]> {
    const { file, options } = this;
    const ranks = meant.map(({ group, facts }) => file.groups.firstRanks[group] + facts.rank);
    const ids = await this.traceIds(ranks);
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

  private async traceIds(ranks: readonly number[]): Promise<readonly (string | GraphError)[]> {
    const { dictionary, name } = this.file;
    if (ranks.some((rank) => rank >= dictionary.keyCount)) {
      throw new CorruptError(`${name} has a trace beyond its keys`, 'traceRows');
    }
    try {
      const keys = await dictionary.keysAt(ranks, this.options);
      return keys.map((key) => key.toString('hex', 0, TRACE_ID_BYTES));
    } catch (error) {
      if (!isDamage(error)) throw error;
      if (ranks.length === 1) return [error];
      const ids: (string | GraphError)[] = [];
      for (const rank of ranks) ids.push(...(await this.traceIds([rank])));
      return ids;
    }
  }
}

/** One row for two pieces of a trace. */
const joined = (a: TraceRow, b: TraceRow): TraceRow => ({
  ...a,
  spanCount: a.spanCount + b.spanCount,
  startUnixNs: a.startUnixNs < b.startUnixNs ? a.startUnixNs : b.startUnixNs,
  endUnixNs: a.endUnixNs > b.endUnixNs ? a.endUnixNs : b.endUnixNs,
  errorCount: a.errorCount + b.errorCount,
  bytes: a.bytes + b.bytes,
});
