// What a span has beside its name and times: kind, status and properties, and, on few spans, events, links, a message and counts of what bounds
// refused. Values of a program are checked and copied at the call, so that it may go on changing its own; they are kept with the handle until the
// span ends, and then written behind its row as entries. On the recording path: a callback or a getter that throws is counted, never passed on,
// and costs no more than its own property.
import { state } from '../context/process-state.js';
import { Counter, count } from './counters.js';

/** A typed property value. 64-bit integers are `bigint`; an array holds one type only. */
export type PropertyValue =
  | string
  | number
  | bigint
  | boolean
  | readonly string[]
  | readonly number[]
  | readonly bigint[]
  | readonly boolean[];

/** Properties as a user writes them. A later value of the same key wins. */
export type Properties = Readonly<Record<string, PropertyValue | undefined>>;

/**
 * Properties as the library keeps them: key, value, key, value. Cheaper to append than an object and in order; keys may
 * repeat until records are made.
 */
export type PropertyList = readonly (string | PropertyValue)[];

/** The role of a span in a remote call, as OpenTelemetry names it. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/** The outcome of a span. */
export type StatusCode = 'unset' | 'ok' | 'error';

/** A span's status; `message` is only meaningful for `error`. */
export interface SpanStatus {
  readonly code: StatusCode;
  readonly message?: string;
}

/** A reference from one span to another, usually in another trace. Ids are lower-case hex (32 and 16 digits). */
export interface Link {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState?: string;
  readonly properties?: Properties;
  /** Properties that were left out, in a record: a bound, or values of no permitted type. */
  readonly droppedAttributesCount?: number;
}

/** Evaluate a callback given by the user; undefined and a count when it throws. */
export const guarded = <T>(callback: () => T): T | undefined => {
  try {
    return callback();
  } catch {
    count(Counter.callbackErrors);
    return undefined;
  }
};

/** A name as text, whatever it is. */
export const nameText = (name: unknown): string =>
  typeof name === 'string' ? name : (guarded(() => String(name)) ?? '');

const NO_KEYS: readonly string[] = [];

/** Feed each property to `add`; undefined values are left out. */
export const lazyProperties = (
  properties: Properties | (() => Properties),
  add: (key: string, value: PropertyValue) => void,
): void => {
  const made = typeof properties === 'function' ? guarded(properties) : properties;
  if (made === undefined || made === null) return;
  if (typeof made !== 'object') {
    count(Counter.propertiesInvalid);
    return;
  }
  for (const key of guarded(() => Object.keys(made)) ?? NO_KEYS) {
    let value: PropertyValue | undefined;
    try {
      value = made[key];
    } catch {
      count(Counter.callbackErrors);
    }
    if (value !== undefined) add(key, value);
  }
};

/** A permitted value that is not an array. */
export const isScalar = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint';

/** A permitted value, an array copied; undefined for any other. */
export const cleanValue = (value: unknown): PropertyValue | undefined =>
  isScalar(value)
    ? (value as PropertyValue)
    : typeof value === 'object'
      ? guarded(() => uniformCopy(value))
      : undefined;

const uniformCopy = (value: unknown): PropertyValue | undefined => {
  // Throws for a revoked proxy.
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = [...value];
  const type = typeof items[0];
  return items.every((item) => isScalar(item) && typeof item === type) ? (items as PropertyValue) : undefined;
};

/** The value as a span keeps it until its end. What is not permitted is counted there: an object becomes null, so that it is dropped. */
export const keptValue = (value: PropertyValue): PropertyValue =>
  typeof value === 'object' ? (cleanValue(value) ?? (null as unknown as PropertyValue)) : value;

/** Properties of an event or a link as they are now: key, value, key, value. */
export const keptProperties = (properties: Properties | (() => Properties) | undefined): PropertyList | null => {
  if (properties === undefined || properties === null) return null;
  const list: (string | PropertyValue)[] = [];
  lazyProperties(properties, (key, value) => list.push(key, keptValue(value)));
  return list.length === 0 ? null : list;
};

/** An event as recorded. */
export interface PendingEvent {
  readonly name: string;
  readonly ticks: number;
  readonly properties: PropertyList | null;
  /** Properties that a bound refused. */
  readonly dropped: number;
}

/** A reference to a span: four words of its trace id and two of its own; null when they were not ids. */
export interface PendingLink {
  readonly ids: ArrayLike<number> | null;
  readonly traceState: string;
  readonly properties: PropertyList | null;
  /** Properties that a bound refused. */
  readonly dropped: number;
}

export class SpanDetails {
  events: PendingEvent[] | null = null;
  links: PendingLink[] | null = null;
  message = '';
  /** Number of each that a bound refused. */
  droppedProperties = 0;
  droppedEvents = 0;
  droppedLinks = 0;

  /** Add an event, unless there are `max`. */
  addEvent(event: PendingEvent, max: number): void {
    this.events ??= [];
    if (this.events.length < max) this.events.push(typeof event.name === 'string' ? event : named(event));
    else {
      count(Counter.eventsOverCap);
      this.droppedEvents++;
    }
  }
}

// Now, because it may run code of the program: never while a row is written.
const named = (event: PendingEvent): PendingEvent => ({ ...event, name: nameText(event.name) });

/** A span that has ended. */
export interface EndedSpan {
  readonly name: string;
  readonly idHi: number;
  readonly idLo: number;
  readonly begin: number;
  /** Key, value, key, value; keys may repeat. */
  readonly propertyList: readonly (string | PropertyValue)[] | null;
  readonly details: SpanDetails | null;
}

// What measures spans by their names as they end: metrics, where the program wants some of its spans counted. Undefined is the whole cost of them without.

/** What has recorded a span: the span itself, that around a local one, or a local collector. */
export interface SpanOwner {
  /** Nothing of it is reported. */
  readonly isDiscarded: boolean;
  /** Writes the ids of its trace and of itself; false where the trace is not sampled. A local collector has no trace. */
  writeSampledIds?(words: Int32Array, at: number): boolean;
}

export interface SpanMeasures {
  /** A span has ended, with its status. Must not throw. */
  ended(span: EndedSpan, owner: SpanOwner, endTicks: number, isFailed: boolean): void;
}

export const spanMeasures = (): SpanMeasures | undefined => state.spanMeasures as SpanMeasures | undefined;
