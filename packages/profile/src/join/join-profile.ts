// Joins profiles with spans: each sample goes to the one span that it worked for, and from there up to the root. A sample that may belong to either
// of two spans belongs to none, and a span that is in several traces did its work once. Spans of one thread nest, but those held open too long may
// not: they are found all the same, and are kept apart.

import type { SpanRecord } from 'spanline';
import { firstIndex, getOrMake } from 'spanline/internal/base';
import type { LabelCpu } from '../dynamic-label.js';
import { type LabelledProfile, type LabelRecord, LOST_LABEL, OVERFLOW_LABEL, SampleKind } from '../labelled-profile.js';
import { CpuSum } from '../shares.js';
import { SPAN_ID_LABEL } from './span-labels.js';

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
interface SpanNode {
  readonly record: SpanRecord;
  readonly work: SpanWork;
  /** Of everything beneath it too. */
  total: CpuSum | undefined;
}

/** What one span did, in however many traces it is. */
class SpanWork implements Interval {
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

class SpanIndex {
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

/** From `beginNs` until just before `endNs`. */
export interface Interval {
  readonly beginNs: number;
  readonly endNs: number;
}

const NONE = -1;

export class OpenIntervals<T extends Interval> {
  readonly #sorted: readonly T[];
  readonly #begins: Float64Array;
  /** The last one that began before and ends after: when this one is over, it is the innermost. */
  readonly #around: Int32Array;
  /** Began inside another and ended outside of it, or the other way round. */
  readonly #crosses: Uint8Array;

  constructor(intervals: readonly T[]) {
    const sorted = [...intervals].sort((a, b) => a.beginNs - b.beginNs || b.endNs - a.endNs);
    this.#sorted = sorted;
    this.#begins = Float64Array.from(sorted, ({ beginNs }) => beginNs);
    this.#around = new Int32Array(sorted.length);
    this.#crosses = new Uint8Array(sorted.length);
    const open: number[] = [];
    sorted.forEach(({ beginNs, endNs }, i) => {
      while (open.length > 0 && sorted[open[open.length - 1]].endNs < endNs) {
        const ended = open.pop() as number;
        if (sorted[ended].endNs <= beginNs) continue;
        this.#crosses[ended] = 1;
        this.#crosses[i] = 1;
      }
      this.#around[i] = open.length === 0 ? NONE : open[open.length - 1];
      open.push(i);
    });
  }

  /** The one that began last of those open at `ns`. */
  innermost(ns: number): T | undefined {
    const at = this.#find(ns);
    return at === NONE ? undefined : this.#sorted[at];
  }

  /** Those open at `ns`, the innermost first; undefined when they do not nest. */
  nest(ns: number): readonly T[] | undefined {
    const open: T[] = [];
    for (let at = this.#find(ns); at !== NONE; at = this.#around[at]) {
      if (this.#crosses[at] === 1) return undefined;
      open.push(this.#sorted[at]);
    }
    return open;
  }

  #find(ns: number): number {
    // The last that began. Whatever lies between one and the one around it ended no later.
    let at = firstIndex(0, this.#begins.length, (i) => this.#begins[i] > ns) - 1;
    while (at !== NONE && this.#sorted[at].endNs <= ns) at = this.#around[at];
    return at;
  }
}

/** CPU time of one span. Standard errors are those of a sum over random samples: the root of the sum of the squares of their weights. */
export interface SpanCpu {
  /** While no other span was open inside it. */
  readonly self: LabelCpu;
  /** Of the spans beneath it too; they may have worked after its end. */
  readonly total: LabelCpu;
}

export interface JoinOptions {
  /**
   * All records are of the thread that was profiled, so that a sample without a span label goes to the local span that was open then.
   * Default false: only local spans whose ids show that they are of that thread.
   */
  readonly isSameThread?: boolean;
}

/** Profiles joined with spans. `attributed` and `unattributed` together are all samples but idle time and garbage collection. */
export interface JoinedProfile {
  /** Undefined for a span without samples, in itself and beneath. */
  cpuOf(span: SpanRecord): SpanCpu | undefined;
  /** Of all spans of a trace, by trace id; only traces with samples. */
  readonly traces: ReadonlyMap<string, LabelCpu>;
  readonly attributed: LabelCpu;
  /** Samples of no span, of spans that are not among the records, and without a label that can be told. */
  readonly unattributed: LabelCpu;
}

const WORD_DIGITS = 8;
/** V8 rounds sample times down to microseconds. */
const HALF_US_NS = 500;

const SPAN_ID = /^[0-9a-f]{16}$/;

/** The two words of the span that a label names. */
const spanOf = (label: LabelRecord): readonly [hi: number, lo: number] | undefined => {
  const id = label[SPAN_ID_LABEL];
  if (typeof id !== 'string' || !SPAN_ID.test(id)) return undefined;
  return [Number.parseInt(id.slice(0, WORD_DIGITS), 16), Number.parseInt(id.slice(WORD_DIGITS), 16)];
};

// Such a sample had a label, and it may have been that of another span.
const isUnknown = (row: number): boolean => row === LOST_LABEL || row === OVERFLOW_LABEL;

/** Finds the span of a sample that has no span label. */
const byTime = (index: SpanIndex, isOfThread: (work: SpanWork) => boolean): ((ns: number) => SpanWork | undefined) => {
  const locals: SpanWork[] = [];
  for (const work of index.works.values()) if (work.isLocal && isOfThread(work)) locals.push(work);
  const intervals = new OpenIntervals(locals);
  const isInside = (inner: SpanWork, outer: SpanWork): boolean =>
    inner.nodes.some((node) => index.parentOf(node)?.work === outer);
  return (ns) => {
    const open = intervals.nest(ns);
    // One that was held open while other work ran is around what is not its own.
    const isOneStack = open?.every((work, i) => i === 0 || isInside(open[i - 1], work));
    return isOneStack ? open?.[0] : undefined;
  };
};

const addSamples = (profile: LabelledProfile, index: SpanIndex, isSameThread: boolean, unattributed: CpuSum): void => {
  const { samples, labels } = profile;
  const ids = labels.map(spanOf);
  const works = ids.map((id) => id && index.works.get(...id));
  // Every id that this thread gave begins with the same word, until two thousand million are used up.
  const prefixes = new Set(ids.map((id) => id?.[0]));
  const openAt = byTime(index, ({ idHi }) => isSameThread || prefixes.has(idHi));
  const startNs = Number(profile.startUnixNs - BigInt(index.epochSec) * BigInt(NS_PER_S)) + HALF_US_NS;
  for (let i = 0; i < samples.count; i++) {
    if (samples.kind[i] === SampleKind.idle || samples.kind[i] === SampleKind.gc) continue;
    const row = samples.label[i];
    const ns = startNs + samples.atNs[i];
    const work = ids[row] !== undefined ? works[row]?.innermostAt(ns) : isUnknown(row) ? undefined : openAt(ns);
    (work?.self ?? unattributed).addSample(samples.cpuNs[i]);
  }
};

const rollUp = (index: SpanIndex, work: SpanWork): void => {
  for (const node of work.nodes) {
    const seen = new Set<SpanNode>();
    for (let at: SpanNode | undefined = node; at !== undefined && !seen.has(at); at = index.parentOf(at)) {
      seen.add(at);
      at.total ??= new CpuSum();
      at.total.add(work.self);
    }
  }
};

/**
 * Tell how much CPU time each span took, from profiles taken while they ran.
 *
 * For a trace whose profile you have at hand; `CpuReporter` does it for every trace on its way out. A sample goes to the innermost
 * local span open inside the span that its label names, and without such a label to the innermost local span open then. Times of
 * samples and spans compare within microseconds: a local span shorter than that may get a sample of its neighbour. A span whose work
 * was begun before the profile has no labels until it is run again. Nanoseconds of thread CPU time.
 *
 * @example
 * ```ts
 * import { Span } from 'spanline';
 * import { joinProfile, startProfile } from '@spanline/profile';
 * const running = await startProfile();
 * const [root, collector] = Span.rootWithCollector('job');
 * root.run(() => JSON.stringify(Array.from({ length: 1e5 })));
 * root.end();
 * const records = await collector.collect();
 * const joined = joinProfile(running.stop(), records);
 * for (const record of records) console.log(record.name, record.durationNs, joined.cpuOf(record)?.total.ns);
 * ```
 */
export const joinProfile = (
  profiles: LabelledProfile | readonly LabelledProfile[],
  records: readonly SpanRecord[],
  { isSameThread = false }: JoinOptions = {},
): JoinedProfile => {
  const index = new SpanIndex(records);
  const unattributed = new CpuSum();
  for (const each of [profiles].flat()) addSamples(each, index, isSameThread, unattributed);
  const attributed = new CpuSum();
  const traces = new Map<string, CpuSum>();
  for (const work of index.works.values()) {
    if (work.self.samples === 0) continue;
    attributed.add(work.self);
    rollUp(index, work);
    for (const { record } of work.nodes) {
      getOrMake(traces, record.traceId, () => new CpuSum()).add(work.self);
    }
  }
  return {
    cpuOf: ({ traceId, idHi, idLo }) => {
      const node = index.traces.get(traceId)?.get(idHi, idLo);
      return node?.total && { self: node.work.self.toCpu(), total: node.total.toCpu() };
    },
    traces: new Map(Array.from(traces, ([traceId, sum]) => [traceId, sum.toCpu()])),
    attributed: attributed.toCpu(),
    unattributed: unattributed.toCpu(),
  };
};
