// The properties in which spans carry their CPU time, and a trace whose spans have them. Readers of traces know these names.

import type { Resource, SpanRecord, Trace } from 'spanline';
import type { LabelCpu } from '../dynamic-label.js';
import type { LabelledProfile } from '../labelled-profile.js';
import { joinProfile } from './join-profile.js';

/** Nanoseconds of thread CPU time of a span and everything beneath it, whole. */
export const CPU_NS = 'cpu.ns';
/** Samples that say so. */
export const CPU_SAMPLES = 'cpu.samples';
/** Standard error of `cpu.ns`, in nanoseconds, whole. */
export const CPU_STDERR_NS = 'cpu.stderr_ns';
/** Share of the span's time during which a profile was taken; left out from 0.99 on. */
export const CPU_COVERAGE = 'cpu.coverage';

const WHOLE = 0.99;
const DIGITS = 1000;

/** From and to, in unix nanoseconds. */
interface Window {
  readonly fromNs: bigint;
  readonly toNs: bigint;
}

/** When a profile was taken. */
export const windowOf = ({ startUnixNs, startNs, endNs }: LabelledProfile): Window => ({
  fromNs: startUnixNs,
  toNs: startUnixNs + BigInt(Math.round(endNs - startNs)),
});

/** From the first begin to the last end. */
export const windowOfSpans = (spans: readonly SpanRecord[]): Window => {
  let first = spans[0];
  let last = spans[0];
  for (const span of spans) {
    if ((span.startSec - first.startSec || span.startNano - first.startNano) < 0) first = span;
    if ((span.endSec - last.endSec || span.endNano - last.endNano) > 0) last = span;
  }
  return { fromNs: first?.startUnixNs ?? 0n, toNs: last?.endUnixNs ?? 0n };
};

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** Share of a span's time inside the windows, 0 to 1; 1 for a span without length. */
const coverageOf = (span: SpanRecord, windows: readonly Window[]): number => {
  const from = span.startUnixNs;
  const to = span.endUnixNs;
  if (to <= from) return windows.some(({ fromNs, toNs }) => from >= fromNs && from <= toNs) ? 1 : 0;
  let covered = 0n;
  for (const { fromNs, toNs } of windows) covered += max(0n, min(to, toNs) - max(from, fromNs));
  return Math.min(1, Number(covered) / Number(to - from));
};

const propertiesOf = ({ ns, samples, stderrNs }: LabelCpu, coverage: number): Record<string, number> => ({
  [CPU_NS]: Math.round(ns),
  [CPU_SAMPLES]: samples,
  [CPU_STDERR_NS]: Math.round(stderrNs),
  ...(coverage < WHOLE ? { [CPU_COVERAGE]: Math.round(coverage * DIGITS) / DIGITS } : {}),
});

const NOTHING: LabelCpu = { ns: 0, samples: 0, stderrNs: 0 };

/** A trace with the CPU time of its spans. */
const cpuTrace = (
  inner: Trace,
  resource: Resource,
  spans: readonly SpanRecord[],
): Trace & Pick<OwnedTrace, 'resource'> => ({
  traceId: inner.traceId,
  resource,
  spans,
  spanCount: spans.length,
  byteSize: inner.byteSize,
  isContinuation: inner.isContinuation,
  spanAt: (index) => spans[index],
  root: inner.root && spans[0],
  durationNs: inner.durationNs,
  hasError: inner.hasError,
});

/** A trace and who made it. */
export interface OwnedTrace {
  readonly trace: Trace;
  readonly resource: Resource;
}

/**
 * The same traces with the CPU time that the profiles tell of their spans. A span without samples stays as it is, but a root (or the
 * first span of a part) says by zeros that it was profiled.
 */
export const withCpu = (
  traces: readonly OwnedTrace[],
  profiles: readonly LabelledProfile[],
): (Trace & Pick<OwnedTrace, 'resource'>)[] => {
  const all = traces.flatMap(({ trace }) => trace.spans);
  const { fromNs, toNs } = windowOfSpans(all);
  // Most kept profiles are of another time.
  const meeting = profiles.filter((profile) => {
    const window = windowOf(profile);
    return window.fromNs <= toNs && window.toNs >= fromNs;
  });
  if (meeting.length === 0) return traces.map(({ trace, resource }) => cpuTrace(trace, resource, trace.spans));
  const windows = meeting.map(windowOf);
  const joined = joinProfile(meeting, all, { isSameThread: true });
  return traces.map(({ trace, resource }) => {
    const spans = trace.spans.map((span, i) => {
      const cpu = joined.cpuOf(span)?.total;
      if (cpu === undefined && i > 0) return span;
      const coverage = coverageOf(span, windows);
      if (cpu === undefined && coverage === 0) return span;
      return span.withProperties(propertiesOf(cpu ?? NOTHING, coverage));
    });
    return cpuTrace(trace, resource, spans);
  });
};
