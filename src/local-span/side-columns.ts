// Properties and events of local spans, kept beside the queue so that a span without them costs nothing.
// Written on the hot path: no objects per entry, no checks of values (those happen when records are made).
import { Counter, count } from './counters.js';
import type { Properties, PropertyValue } from './property.js';

/** Entries of each kind one line may hold; beyond it they are counted and dropped. */
export const MAX_SIDE_ENTRIES = 1 << 17;

/** The side columns of a finished batch, cut to size. */
export interface SideSlice {
  /** Index of the span each property belongs to, ascending only by chance. */
  readonly propertySpans: readonly number[];
  readonly propertyKeys: readonly string[];
  readonly propertyValues: readonly PropertyValue[];
  readonly eventSpans: readonly number[];
  readonly eventTicks: readonly number[];
  readonly eventNames: readonly string[];
  readonly eventProperties: readonly (Properties | undefined)[];
  /** How many properties and events of a span were over the bound; null when none was. */
  readonly droppedProperties: ReadonlyMap<number, number> | null;
  readonly droppedEvents: ReadonlyMap<number, number> | null;
}

// Columns begin filled, so that the usual store is inside the array and V8 compiles it as such; more are pushed.
const INITIAL_ENTRIES = 64;

const column = <T>(value: T): T[] => {
  const out: T[] = [];
  for (let i = 0; i < INITIAL_ENTRIES; i++) out.push(value);
  return out;
};

const NOTHING: readonly never[] = Object.freeze([]);

const cut = <T>(from: readonly T[], n: number): readonly T[] => (n === 0 ? NOTHING : from.slice(0, n));

// One entry a span at most, and a batch has no more spans than a trace may.
const oneMore = (counts: Map<number, number> | null, span: number): Map<number, number> =>
  (counts ?? new Map()).set(span, (counts?.get(span) ?? 0) + 1);

export class SideColumns {
  private propertyCount = 0;
  private readonly propertySpans = column(0);
  private readonly propertyKeys = column('');
  private readonly propertyValues = column<PropertyValue>('');
  private droppedProperties: Map<number, number> | null = null;
  private eventCount = 0;
  private droppedEvents: Map<number, number> | null = null;
  private readonly eventSpans = column(0);
  // 0.5 makes the elements doubles from the start.
  private readonly eventTicks = column(0.5);
  private readonly eventNames = column('');
  private readonly eventProperties = column<Properties | undefined>(undefined);

  addProperty(span: number, key: string, value: PropertyValue): void {
    const i = this.propertyCount;
    if (i === MAX_SIDE_ENTRIES) {
      count(Counter.propertiesOverCap);
      this.droppedProperties = oneMore(this.droppedProperties, span);
      return;
    }
    this.propertyCount = i + 1;
    if (i < this.propertySpans.length) {
      this.propertySpans[i] = span;
      this.propertyKeys[i] = key;
      this.propertyValues[i] = value;
    } else {
      this.propertySpans.push(span);
      this.propertyKeys.push(key);
      this.propertyValues.push(value);
    }
  }

  addEvent(span: number, ticks: number, name: string, properties: Properties | undefined): void {
    const i = this.eventCount;
    if (i === MAX_SIDE_ENTRIES) {
      count(Counter.eventsOverCap);
      this.droppedEvents = oneMore(this.droppedEvents, span);
      return;
    }
    this.eventCount = i + 1;
    if (i < this.eventSpans.length) {
      this.eventSpans[i] = span;
      this.eventTicks[i] = ticks;
      this.eventNames[i] = name;
      this.eventProperties[i] = properties;
    } else {
      this.eventSpans.push(span);
      this.eventTicks.push(ticks);
      this.eventNames.push(name);
      this.eventProperties.push(properties);
    }
  }

  /** Cut out what was written and start over with the arrays as they have grown. */
  take(): SideSlice {
    const p = this.propertyCount;
    const e = this.eventCount;
    this.propertyCount = 0;
    this.eventCount = 0;
    const slice = {
      propertySpans: cut(this.propertySpans, p),
      propertyKeys: cut(this.propertyKeys, p),
      propertyValues: cut(this.propertyValues, p),
      eventSpans: cut(this.eventSpans, e),
      eventTicks: cut(this.eventTicks, e),
      eventNames: cut(this.eventNames, e),
      eventProperties: cut(this.eventProperties, e),
      droppedProperties: this.droppedProperties,
      droppedEvents: this.droppedEvents,
    };
    this.droppedProperties = null;
    this.droppedEvents = null;
    // These arrays wait in the pool: they must not keep the caller's values alive.
    this.propertyValues.fill('', 0, p);
    this.eventProperties.fill(undefined, 0, e);
    return slice;
  }

  /** True when the arrays are small enough to keep in the pool. */
  get isPoolable(): boolean {
    return this.propertySpans.length <= 1024 && this.eventSpans.length <= 1024;
  }
}

// 64 of at most 1024 entries a column.
const MAX_FREE = 64;
const free: SideColumns[] = [];

export const acquireSideColumns = (): SideColumns => free.pop() ?? new SideColumns();

export const releaseSideColumns = (columns: SideColumns): void => {
  if (free.length < MAX_FREE && columns.isPoolable) free.push(columns);
};
