// Joins profiles with spans: each sample goes to the one span that it worked for, and from there up to the root. A sample that may
// belong to either of two spans belongs to none.

import type { SpanRecord } from 'spanline';
import { getOrMake } from 'spanline/internal/base';
import type { LabelCpu } from '../dynamic-label.js';
import { type LabelledProfile, type LabelRecord, LOST_LABEL, OVERFLOW_LABEL, SampleKind } from '../labelled-profile.js';
import { CpuSum } from '../shares.js';
import { OpenIntervals } from './open-intervals.js';
import { SPAN_ID_LABEL } from './span-labels.js';
import { SpanIndex, type SpanNode, type SpanWork } from './span-work.js';

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
const NS_PER_S = 1_000_000_000n;

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
  const startNs = Number(profile.startUnixNs - BigInt(index.epochSec) * NS_PER_S) + HALF_US_NS;
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
