// What a span is started with and what it keeps until its record is made. Types only.
import type { Properties } from '../local-span/property.js';
import type { ActiveTrace } from './active-trace.js';
import type { SpanKind } from './span-types.js';
import type { TraceSink } from './trace-sink.js';

/** How a span starts. */
export interface SpanOptions {
  readonly kind?: SpanKind;
  /** An object, or a callback that runs only when the span records. */
  readonly properties?: Properties | (() => Properties);
}

/** How a root starts. */
export interface RootOptions extends SpanOptions {
  /** The collector that gets this trace; the default collector when left out. */
  readonly collector?: TraceSink;
}

/** An event as recorded: ticks, not time. */
export interface PendingEvent {
  readonly name: string;
  readonly ticks: number;
  readonly properties: Properties | undefined;
}

/** How many of each a bound refused. */
export interface DroppedDetails {
  properties: number;
  events: number;
  links: number;
}

/** A further parent. In a further trace the span has a record under it; in a trace it is in already, a link to it. */
export interface ExtraParent {
  readonly trace: ActiveTrace;
  readonly parentHi: number;
  readonly parentLo: number;
}
