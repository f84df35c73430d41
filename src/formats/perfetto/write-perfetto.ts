// Traces and a process's own stretches as a file for Perfetto (ui.perfetto.dev) and its trace_processor: a track for each trace, with further
// tracks below it for spans that overlap, and tracks of the process beside them. A slice that was begun must end, unless its span is open.
// In protobuf, not as Chrome's trace events: trace_processor reads the times of JSON as doubles of microseconds, off by up to 128 ns today, takes no
// clock from JSON, and knows no track below another there.
import { orderInSteps } from '../../base/calls/timers.js';
import { getOrMake } from '../../base/maps/maps.js';
import type { ArchivedValue } from '../../record/archived-span.js';
import type { FinishedSpan } from '../../record/finished-span.js';
import * as Field from './fields.js';
import { type EventContent, Packets } from './packets.js';
import { type TrackSpan, Tracks } from './tracks.js';

/** The spans of a trace as they are drawn, in any order. */
export interface PerfettoSpans {
  readonly length: number;
  /** Valid until the next call. */
  span(i: number): FinishedSpan;
  /** One synchronous stretch of its parent's work. */
  isLocal(i: number): boolean;
  /** It has not ended: the slice is begun only. */
  isOpen(i: number): boolean;
}

/** A stretch of the process itself. Times are microseconds of Unix time. */
export interface PerfettoStretch {
  readonly name: string;
  readonly category: string;
  readonly startUs: number;
  readonly endUs: number;
  readonly properties: readonly (readonly [key: string, value: ArchivedValue])[];
  /** In order of time, without overlaps. */
  readonly parts: readonly PerfettoStretch[];
}

/** Whose traces they are. */
export interface PerfettoProcess {
  readonly name: string;
  readonly pid: number;
}

const NS_PER_S = 1e9;
const US_PER_S = 1e6;

const MAX_FLOWS = 1_000_000;

const NONE: readonly number[] = [];

/**
 * Links between spans as flows: arrows from the span that is linked to the one that links. Both ends of a flow bear its number, so that all spans
 * have to be seen before the first is written. Bounded: links beyond the bound get no arrow, and are counted.
 */
class Flows {
  readonly #bySpan = new Map<string, number[]>();
  #count = 0;
  /** Links that get no arrow. */
  refused = 0;

  /** Look at the links of a span. */
  see(span: FinishedSpan): void {
    const { linkCount } = span;
    for (let i = 0; i < linkCount; i++) {
      const { traceId, spanId } = span.link(i);
      if (this.#count >= MAX_FLOWS) this.refused++;
      else {
        const flow = ++this.#count;
        this.#add(traceId + spanId, flow);
        this.#add(span.traceId + span.spanId, flow);
      }
    }
  }

  /** The flows that begin or end at a span. */
  of(span: FinishedSpan): readonly number[] {
    return this.#bySpan.size === 0 ? NONE : (this.#bySpan.get(span.traceId + span.spanId) ?? NONE);
  }

  #add(key: string, flow: number): void {
    getOrMake(this.#bySpan, key, () => []).push(flow);
  }
}

interface Drawn {
  /** Places among the spans, in order of start. */
  readonly order: Int32Array;
  /** The same spans in that order. */
  readonly tracks: readonly TrackSpan[];
  readonly title: string;
}

/** What has to be known of all spans before the first is drawn; a step is a span. */
const drawn = function* (spans: PerfettoSpans): Generator<undefined, Drawn> {
  const places = new Map<string, number>();
  const starts = new Float64Array(spans.length);
  const base = spans.span(0).startSec;
  let title = spans.span(0).name;
  let hasRoot = false;
  for (let i = 0; i < spans.length; i++) {
    const span = spans.span(i);
    places.set(span.spanId, i);
    starts[i] = (span.startSec - base) * NS_PER_S + span.startNano;
    if (!hasRoot && span.parentSpanId === '') [hasRoot, title] = [true, span.name];
    yield;
  }
  const order = yield* orderInSteps(starts);
  const turns = new Int32Array(spans.length);
  for (let turn = 0; turn < order.length; turn++) turns[order[turn]] = turn;
  const tracks: TrackSpan[] = [];
  for (const i of order) {
    const { spanId, parentSpanId, endSec, endNano } = spans.span(i);
    const parent = parentSpanId === '' || parentSpanId === spanId ? undefined : places.get(parentSpanId);
    tracks.push({
      startNs: starts[i],
      endNs: spans.isOpen(i) ? Number.POSITIVE_INFINITY : (endSec - base) * NS_PER_S + endNano,
      parent: parent === undefined ? -1 : turns[parent],
      isLocal: spans.isLocal(i),
    });
    yield;
  }
  return { order, tracks, title };
};

/** Times of Unix in microseconds as seconds and nanoseconds. */
const timeOf = (us: number): readonly [sec: number, nano: number] => {
  const sec = Math.floor(us / US_PER_S);
  return [sec, Math.min(Math.round((us - sec * US_PER_S) * 1000), NS_PER_S - 1)];
};

export class PerfettoWriter {
  readonly #packets = new Packets();
  readonly #flows = new Flows();
  #tracks = 0;
  /** The track of the process whose traces are written now. */
  #process = 0;

  /** Bytes written and not yet taken. */
  get length(): number {
    return this.#packets.length;
  }

  /** What was written since the last call. Valid until more is written. */
  take(): Buffer {
    return this.#packets.take();
  }

  /** Look at the links of a span: of all spans, before the first trace is written, or their arrows are missing. */
  see(span: FinishedSpan): void {
    this.#flows.see(span);
  }

  /** A process, at a time of Unix in microseconds, with a mark there that says what `content` says. What is written next is of it. */
  process({ name, pid }: PerfettoProcess, us: number, content: EventContent): void {
    const [sec, nano] = timeOf(us);
    if (this.#process === 0) this.#packets.clocks(sec, nano);
    this.#process = ++this.#tracks;
    const { chronological } = Field.ChildOrdering;
    this.#packets.track({ uuid: this.#process, process: { pid, name }, childOrdering: chronological });
    this.#packets.event(Field.EventType.instant, this.#process, sec, nano, content);
  }

  /** One trace; a step is about a span, so that a caller can pause. */
  *trace(traceId: string, spans: PerfettoSpans): Generator<undefined> {
    if (spans.length === 0) return;
    const { order, tracks: placed, title } = yield* drawn(spans);
    const tracks = new Tracks(placed);
    const first = ++this.#tracks;
    const { explicit } = Field.ChildOrdering;
    this.#packets.track({
      uuid: first,
      parent: this.#process,
      name: `${title} ${traceId}`,
      childOrdering: explicit,
    });
    const uuids = [first];
    const ended = (turn: number, track: number): void => {
      const i = order[turn];
      if (spans.isOpen(i)) return;
      const { endSec, endNano } = spans.span(i);
      this.#packets.end(uuids[track], endSec, endNano);
    };
    for (const [turn, i] of order.entries()) {
      const track = tracks.place(turn, ended);
      if (track === uuids.length) {
        const uuid = ++this.#tracks;
        this.#packets.track({ uuid, parent: first, name: `at the same time, ${track}`, rank: track });
        uuids.push(uuid);
      }
      this.#span(spans.span(i), spans.isLocal(i), uuids[track]);
      yield;
    }
    yield* tracks.end(ended);
  }

  /** A track of the process itself, of stretches in order of time. Where two overlap the later one begins when the earlier ends. */
  *stretches(name: string, pid: number, isThread: boolean, stretches: Iterable<PerfettoStretch>): Generator<undefined> {
    const uuid = ++this.#tracks;
    if (isThread) this.#packets.track({ uuid, parent: this.#process, thread: { pid, name } });
    else this.#packets.track({ uuid, parent: this.#process, name });
    let endUs = 0;
    for (const stretch of stretches) {
      endUs = this.#stretch(uuid, stretch, endUs, Number.POSITIVE_INFINITY);
      yield;
    }
  }

  #stretch(uuid: number, stretch: PerfettoStretch, fromUs: number, toUs: number): number {
    const { name, category, properties, parts } = stretch;
    const startUs = Math.min(Math.max(stretch.startUs, fromUs), toUs);
    const endUs = Math.min(Math.max(stretch.endUs, startUs), toUs);
    const content = { name, categories: [category], more: properties };
    this.#packets.event(Field.EventType.begin, uuid, ...timeOf(startUs), content);
    let at = startUs;
    for (const part of parts) at = this.#stretch(uuid, part, at, endUs);
    this.#packets.end(uuid, ...timeOf(endUs));
    return endUs;
  }

  #span(span: FinishedSpan, isLocal: boolean, track: number): void {
    const { kind, statusCode, statusMessage, parentSpanId, startSec, startNano, properties } = span;
    const isError = statusCode === 'error';
    const more: (readonly [string, ArchivedValue])[] = [['span.id', span.spanId]];
    if (parentSpanId !== '') more.push(['parent.id', parentSpanId]);
    if (statusCode !== 'unset') more.push(['status', statusCode]);
    if (statusMessage !== '') more.push(['status.message', statusMessage]);
    this.#packets.event(Field.EventType.begin, track, startSec, startNano, {
      name: span.name,
      categories: [isLocal ? 'local' : kind, ...(isError ? ['error'] : [])],
      properties,
      more,
      flows: this.#flows.of(span),
    });
    for (let i = 0; i < span.eventCount; i++) {
      const { name, sec, nano, properties } = span.event(i);
      this.#packets.event(Field.EventType.instant, track, sec, nano, { name, categories: ['event'], properties });
    }
  }
}
