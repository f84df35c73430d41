// Everything about a segment that is decided before its first byte is written: order, groups, tables, symbols, which span gives a trace its
// name. It holds columns of numbers. A trace whose root is somewhere else is an ordinary trace.

import type { SpanRows } from '../rows/span-rows.js';
import { STATUS_CODES } from '../values/fields.js';
import { cutGroups, type Groups } from './groups.js';
import { NEAR_NS } from './layout.js';
import { codeSpans, type SpanSymbols } from './segment-models.js';
import { OperationList, type SegmentSummary, type ServiceSummary } from './segment-summary.js';
import { gatherFacts, type SpanFacts } from './span-facts.js';
import { serviceOf } from './span-tables.js';
import { codeTimes, type PieceTimes, type SpanTimes, timePieces, UNITS } from './span-times.js';
import { NO_PARENT, orderSpans, type SpanOrder } from './trace-order.js';
import type { PieceRow } from './trace-rows.js';

/** By trace, in the order of ids. */
interface TraceHeads {
  /** Ordinal of the root, or of the earliest span where there is none. */
  readonly ordinals: Uint32Array;
  /** 1: there is a root, and no parent is absent. */
  readonly isComplete: Uint8Array;
}

const findHeads = ({ start }: SpanRows, { rows, parents, traces, firsts }: SpanOrder): TraceHeads => {
  const ordinals = new Uint32Array(traces.length);
  const isComplete = new Uint8Array(traces.length);
  for (let trace = 0; trace < traces.length; trace++) {
    const first = firsts[trace];
    const hasRoot = parents[first] === NO_PARENT;
    let head = first;
    let absent = 0;
    for (let i = first; i < firsts[trace + 1]; i++) {
      if (parents[i] < NO_PARENT) absent++;
      if (!hasRoot && start.minus(rows[i], start, rows[head]) < 0) head = i;
    }
    ordinals[trace] = head;
    isComplete[trace] = hasRoot && absent === 0 ? 1 : 0;
  }
  return { ordinals, isComplete };
};

const ERROR = STATUS_CODES.indexOf('error');

/** Decide everything. */
export const planSegment = (rows: SpanRows): SegmentPlan => {
  const order = orderSpans(rows);
  const heads = findHeads(rows, order);
  const facts = gatherFacts(rows, order, heads.ordinals);
  const groups = cutGroups(order.firsts, facts.bytes);
  const symbols = codeSpans(facts, groups.pieceFirsts);
  const pieces = timePieces(rows, order, groups);
  const times = codeTimes(rows, order, groups, pieces, symbols.timeContexts);
  return new SegmentPlan(rows, order, heads, facts, groups, symbols, pieces, times);
};

/** What is known of a segment to be. */
export class SegmentPlan {
  readonly summary: SegmentSummary;
  /** Nanoseconds of a unit in which starts of pieces are told. */
  readonly startUnit: number;
  readonly #starts: Float64Array;

  constructor(
    readonly rows: SpanRows,
    readonly order: SpanOrder,
    readonly heads: TraceHeads,
    readonly facts: SpanFacts,
    readonly groups: Groups,
    readonly symbols: SpanSymbols,
    readonly pieces: PieceTimes,
    readonly times: SpanTimes,
  ) {
    this.summary = this.#summarise();
    this.#starts = this.#pieceStarts();
    this.startUnit = UNITS.find((unit) => this.#starts.every((start) => !(start % unit > 0))) ?? 1;
  }

  /** First start in a group. */
  groupStart(group: number): bigint {
    return this.rows.start.values[this.#groupStartRow(group)];
  }

  #summarise(): SegmentSummary {
    const { rows, order, pieces, facts } = this;
    let first = pieces.startRows[0];
    let end = 0n;
    for (let piece = 0; piece < pieces.startRows.length; piece++) {
      if (rows.start.minus(pieces.startRows[piece], rows.start, first) < 0) first = pieces.startRows[piece];
      if (pieces.ends[piece] > end) end = pieces.ends[piece];
    }
    return {
      spanCount: order.spanCount,
      traceCount: order.traces.length,
      startUnixNs: order.spanCount === 0 ? 0n : rows.start.values[first],
      endUnixNs: end,
      doubles: order.doubles,
      ...operationsOf(facts),
    };
  }

  /** The rows of traces; `traceRanks` has the rank of the first key of each. */
  pieceRows(traceRanks: Float64Array): PieceRow[] {
    const { rows, order, heads, facts, groups, pieces, times, startUnit } = this;
    const result: PieceRow[] = [];
    for (let group = 0; group + 1 < groups.firsts.length; group++) {
      let expected = traceRanks[groups.traces[groups.firstPieces[group]]];
      for (let piece = groups.firstPieces[group]; piece < groups.firstPieces[group + 1]; piece++) {
        const trace = groups.traces[piece];
        const [first, end] = [groups.pieceFirsts[piece], groups.pieceFirsts[piece + 1]];
        let errorCount = 0;
        let bytes = 0;
        for (let i = first; i < end; i++) {
          if (facts.statuses[i] === ERROR) errorCount++;
          bytes += facts.bytes[i];
        }
        const head = order.rows[heads.ordinals[trace]];
        result.push({
          lastWord: rows.traces.words[4 * order.traces[trace] + 3],
          spanCount: end - first,
          startUnixNs: rows.start.values[pieces.startRows[piece]],
          endUnixNs: pieces.ends[piece],
          start: this.#starts[piece] / startUnit,
          duration: pieces.durations[piece] / times.unit,
          errorCount,
          bytes,
          skipped: traceRanks[trace] - expected,
          isComplete: heads.isComplete[trace] === 1,
          name: rows.nameOf(head),
          service: rows.serviceOf(head),
        });
        expected = traceRanks[trace] + end - first;
      }
    }
    return result;
  }

  /** Starts of pieces from the first start of their group; NaN when too far. */
  #pieceStarts(): Float64Array {
    const { groups, pieces, rows } = this;
    const starts = new Float64Array(groups.traces.length);
    for (let group = 0; group + 1 < groups.firsts.length; group++) {
      const first = this.#groupStartRow(group);
      for (let piece = groups.firstPieces[group]; piece < groups.firstPieces[group + 1]; piece++) {
        const start = rows.start.minus(pieces.startRows[piece], rows.start, first);
        starts[piece] = start < NEAR_NS ? start : Number.NaN;
      }
    }
    return starts;
  }

  #groupStartRow(group: number): number {
    const { groups, pieces, rows } = this;
    let first = pieces.startRows[groups.firstPieces[group]];
    for (let piece = groups.firstPieces[group]; piece < groups.firstPieces[group + 1]; piece++) {
      if (rows.start.minus(pieces.startRows[piece], rows.start, first) < 0) first = pieces.startRows[piece];
    }
    return first;
  }
}

/** Services and names; every pair is looked at once. */
const operationsOf = ({ allResources, allShapes, resources, shapes }: SpanFacts): ServiceSummary => {
  const list = new OperationList();
  const services = allResources.map(serviceOf);
  const seen = new Set<number>();
  let last = -1;
  for (let i = 0; i < shapes.length; i++) {
    const pair = resources[i] * allShapes.length + shapes[i];
    if (pair === last || seen.has(pair)) continue;
    last = pair;
    seen.add(pair);
    list.add(services[resources[i]], allShapes[shapes[i]]);
  }
  return list.finish();
};
