// What a person wants to know of a snapshot before its spans: why it was taken, how much it holds, its slowest traces. Bounded in memory by the
// number of traces that are wanted.

import type { SpanRecord } from 'spanline';
import type { Snapshot, SnapshotReason, SnapshotTrace } from 'spanline/flight-recorder';
import { escapeText } from 'spanline/internal/base';
import { exactTime, formatDuration, glyphsOf } from 'spanline/internal/formats';
import { columns } from '../output.js';

/** A trace without its spans. */
interface TraceFacts {
  readonly traceId: string;
  /** Of the root, else of the span that began first, whichever order they come in: a file that was written has another than the rows that it was made of. */
  readonly name: string;
  readonly start: string;
  /** From the earliest start to the latest end. */
  readonly durationNs: number;
  readonly spans: number;
  readonly errors: number;
  /** Spans that had not ended. */
  readonly open: number;
  /** False: recorded here only. */
  readonly isSampled: boolean;
}

/** A snapshot without its spans. */
interface SnapshotFacts {
  readonly reason: SnapshotReason;
  readonly taken: string;
  readonly service: string;
  readonly bufferedMs: number;
  readonly traces: number;
  readonly spans: number;
  readonly open: number;
  /** Traces that are recorded here only. */
  readonly hereOnly: number;
  readonly tornRows: number;
  readonly garbageCollections: number;
  readonly busyStretches: number;
  /** The longest first. */
  readonly slowest: readonly TraceFacts[];
}

/** Whether a trace is named after `a` rather than `b`: after one without a parent, else after the one that began first. */
const namesBefore = (a: SpanRecord, b: SpanRecord): boolean =>
  (a.parentSpanId === '') === (b.parentSpanId === '') ? a.startUnixNs < b.startUnixNs : a.parentSpanId === '';

const factsOfTrace = ({ traceId, spans, isSampled }: SnapshotTrace): TraceFacts => {
  let first = spans[0].record;
  let start = first.startUnixNs;
  let end = first.endUnixNs;
  let errors = 0;
  let open = 0;
  for (const { record, isOpen } of spans) {
    // Times of rows in two blocks may be rounded to either side: the root can seem to begin a nanosecond behind its child.
    if (namesBefore(record, first)) first = record;
    if (record.startUnixNs < start) start = record.startUnixNs;
    if (record.endUnixNs > end) end = record.endUnixNs;
    if (record.status.code === 'error') errors++;
    if (isOpen) open++;
  }
  const durationNs = Number(end - start);
  return {
    traceId,
    name: first.name,
    start: exactTime(start),
    durationNs,
    spans: spans.length,
    errors,
    open,
    isSampled,
  };
};

const longest = (traces: TraceFacts[], limit: number): TraceFacts[] =>
  traces.sort((a, b) => b.durationNs - a.durationNs).slice(0, limit);

/** Reads the whole snapshot once. */
export const snapshotFacts = (snapshot: Snapshot, limit: number): SnapshotFacts => {
  let slowest: TraceFacts[] = [];
  let traces = 0;
  let spans = 0;
  let open = 0;
  let hereOnly = 0;
  for (const trace of snapshot.traces()) {
    const facts = factsOfTrace(trace);
    traces++;
    spans += facts.spans;
    open += facts.open;
    if (!facts.isSampled) hereOnly++;
    slowest.push(facts);
    if (slowest.length > limit * 2 + 100) slowest = longest(slowest, limit);
  }
  const { reason, takenUnixUs, bufferedMs, tornRows, timeline, resource } = snapshot;
  return {
    reason,
    taken: exactTime(BigInt(Math.round(takenUnixUs)) * 1000n),
    service: resource.serviceName,
    bufferedMs,
    traces,
    spans,
    open,
    hereOnly,
    tornRows,
    garbageCollections: timeline.filter(({ kind }) => kind === 'gc').length,
    busyStretches: timeline.filter(({ kind }) => kind === 'busy').length,
    slowest: longest(slowest, limit),
  };
};

const NS_PER_MS = 1e6;

const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** Columns of what the facts are called. */
const KEY_WIDTH = 9;

/** For a person. */
export const factsText = (facts: SnapshotFacts): string => {
  const { reason, taken, service, bufferedMs, tornRows, open, hereOnly } = facts;
  const contents = [
    plural(facts.spans, 'span'),
    `${plural(facts.traces, 'trace')} of the last ${formatDuration(bufferedMs * NS_PER_MS, glyphsOf())}`,
    `${open} open`,
    `${plural(hereOnly, 'trace')} recorded here only`,
    ...(tornRows > 0 ? [`${plural(tornRows, 'damaged row')} left out`] : []),
  ];
  const timeline = [
    plural(facts.garbageCollections, 'garbage collection'),
    plural(facts.busyStretches, 'busy stretch', 'busy stretches'),
  ];
  const lines = [
    ['reason', [reason.kind, reason.text].filter((text) => text !== '').join(': ')],
    ...(reason.traceId === '' ? [] : [['trace', reason.traceId]]),
    ['taken', taken],
    ['service', service],
    ['holds', contents.join(', ')],
    ['process', timeline.join(', ')],
  ];
  const rows = facts.slowest.map((one) => [
    one.traceId,
    formatDuration(one.durationNs, glyphsOf()),
    String(one.spans),
    String(one.errors),
    one.open > 0 ? String(one.open) : '',
    one.isSampled ? 'sampled' : 'here only',
    one.name,
  ]);
  const head = lines.map(([key, value]) => `${key.padEnd(KEY_WIDTH)}${escapeText(value)}\n`).join('');
  return `${head}\n${columns(['trace', 'duration', 'spans', 'errors', 'open', 'recorded', 'name'], rows, 'lrrrrll')}`;
};
