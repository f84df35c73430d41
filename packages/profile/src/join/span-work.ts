// The spans of some records as a join sees them: by trace and id, with the CPU time found for each. A span that is in several traces
// did its work once.

import type { SpanRecord } from 'spanline';
import { getOrMake } from 'spanline/internal/base';
import { CpuSum } from '../shares.js';
import { type Interval, OpenIntervals } from './open-intervals.js';

/** A map by span id. As text each look-up would make a string; as one number ids would lose digits. */
class SpanIdMap<T> {
  readonly #byHi = new Map<number, Map<number, T>>();

  get(hi: number, lo: number): T | undefined {
    return this.#byHi.get(hi)?.get(lo);
  }

  set(hi: number, lo: number, value: T): void {
    getOrMake(this.#byHi, hi, () => new Map<number, T>()).set(lo, value);
  }

  *values(): Generator<T> {
    for (const byLo of this.#byHi.values()) yield* byLo.values();
  }
}

/** A span in one trace. */
export interface SpanNode {
  readonly record: SpanRecord;
  readonly work: SpanWork;
  /** Of everything beneath it too. */
  total: CpuSum | undefined;
}

/** What one span did, in however many traces it is. */
export class SpanWork implements Interval {
  readonly self = new CpuSum();
  readonly nodes: SpanNode[] = [];
  /** Local spans whose nearest span across tasks this is. */
  readonly locals: SpanWork[] = [];
  #open: OpenIntervals<SpanWork> | undefined;

  constructor(
    readonly isLocal: boolean,
    readonly idHi: number,
    /** Nanoseconds since the epoch of the index. */
    readonly beginNs: number,
    readonly endNs: number,
  ) {}

  /** The local span of this span that is open at `ns`, or this span. */
  innermostAt(ns: number): SpanWork {
    if (this.locals.length === 0) return this;
    this.#open ??= new OpenIntervals(this.locals);
    return this.#open.innermost(ns) ?? this;
  }
}

const NS_PER_S = 1e9;

export class SpanIndex {
  readonly works = new SpanIdMap<SpanWork>();
  readonly traces = new Map<string, SpanIdMap<SpanNode>>();
  /** Whole unix seconds that all times here count from: as nanoseconds since 1970 a number has too few digits. */
  readonly epochSec: number;

  constructor(records: readonly SpanRecord[]) {
    this.epochSec = records[0]?.startSec ?? 0;
    for (const record of records) this.#add(record);
    this.#mountLocals();
  }

  parentOf({ record }: SpanNode): SpanNode | undefined {
    return this.traces.get(record.traceId)?.get(record.parentHi, record.parentLo);
  }

  #add(record: SpanRecord): void {
    const { traceId, idHi, idLo } = record;
    const trace = getOrMake(this.traces, traceId, () => new SpanIdMap<SpanNode>());
    if (trace.get(idHi, idLo) !== undefined) return;
    const work = this.#workOf(record);
    const node = { record, work, total: undefined };
    work.nodes.push(node);
    trace.set(idHi, idLo, node);
  }

  #workOf({ idHi, idLo, isLocal, startSec, startNano, endSec, endNano }: SpanRecord): SpanWork {
    const known = this.works.get(idHi, idLo);
    if (known !== undefined) return known;
    const ns = (sec: number, nano: number): number => (sec - this.epochSec) * NS_PER_S + nano;
    const work = new SpanWork(isLocal, idHi, ns(startSec, startNano), ns(endSec, endNano));
    this.works.set(idHi, idLo, work);
    return work;
  }

  #mountLocals(): void {
    const mounts = new Map<SpanWork, SpanWork | undefined>();
    for (const local of this.works.values()) {
      if (!local.isLocal) continue;
      const path: SpanWork[] = [];
      let at: SpanWork | undefined = local;
      // Marked on the way, so that records whose parents form a ring end here too.
      for (; at?.isLocal && !mounts.has(at); at = this.parentOf(at.nodes[0])?.work) {
        mounts.set(at, undefined);
        path.push(at);
      }
      const mount = at?.isLocal ? mounts.get(at) : at;
      for (const each of path) mounts.set(each, mount);
    }
    for (const [local, mount] of mounts) mount?.locals.push(local);
  }
}
