// A span as its trace and the collector see it: what it keeps until its record is made. Types only, below `Span` and `ActiveTrace`.
import type { Properties, PropertyValue } from '../local-span/property.js';
import type { Link, SpanKind, SpanStatus } from './span-types.js';

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
export interface FurtherParent {
  readonly trace: object;
  readonly parentHi: number;
  readonly parentLo: number;
}

/** The fields of a span that a record is made of. Ids are signed 32-bit words, times are ticks. */
export interface PendingSpan {
  readonly trace: object | null;
  readonly name: string;
  readonly idHi: number;
  readonly idLo: number;
  readonly parentHi: number;
  readonly parentLo: number;
  readonly isRoot: boolean;
  readonly begin: number;
  readonly endTicks: number;
  readonly kind: SpanKind;
  /** Key, value, key, value. */
  readonly propertyList: readonly (string | PropertyValue)[] | null;
  readonly events: readonly PendingEvent[] | null;
  readonly links: readonly Link[] | null;
  readonly status: SpanStatus;
  /** What bounds refused; null for nothing. */
  readonly dropped: DroppedDetails | null;
  /** Parents in further traces. */
  readonly extra: readonly FurtherParent[] | null;
  /** Further parents in a trace that has a record of this span: links of that record. */
  readonly alsoUnder: readonly FurtherParent[] | null;
}
