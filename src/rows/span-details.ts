// What few spans have: events, links, a message, counts of what bounds refused. Kept with the handle until the span ends, then written
// behind its row as entries. Written on the recording path: nothing here may throw.
import { Counter, count } from './counters.js';
import { nameText } from './name-table.js';
import type { PropertyList, PropertyValue } from './property.js';
import type { RowEntries } from './row-entries.js';

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

/**
 * Write the entries of the row that is added next; gives their bytes. `name` is that of a span whose name has no number, `further` are
 * links beside those of the details.
 */
export const writeDetails = (
  entries: RowEntries,
  span: EndedSpan,
  name: string | null,
  further: readonly PendingLink[] | null,
): number => {
  const before = entries.usedBytes;
  if (name !== null) entries.writeName(name);
  const { propertyList, details } = span;
  const invalid = propertyList === null ? 0 : entries.writeProperties(propertyList);
  if (details === null) entries.writeDropped(invalid, 0, 0);
  else {
    const { links, events, message } = details;
    if (message !== '') entries.writeMessage(message);
    const unlinked = links === null ? 0 : links.reduce((sum, { ids }) => sum + (ids === null ? 1 : 0), 0);
    entries.writeDropped(invalid + details.droppedProperties, details.droppedEvents, unlinked + details.droppedLinks);
    if (events !== null) for (const event of events) writeEvent(entries, event);
  }
  if (further !== null) for (const link of further) writeLink(entries, link);
  if (details?.links) for (const link of details.links) writeLink(entries, link);
  return entries.usedBytes - before;
};

const writeEvent = (entries: RowEntries, { name, ticks, properties, dropped }: PendingEvent): void => {
  entries.writeEvent(name, ticks);
  entries.writeDropped(dropped + (properties === null ? 0 : entries.writeProperties(properties)), 0, 0);
};

/** Write a link behind everything else of a row. */
export const writeLink = (entries: RowEntries, { ids, traceState, properties, dropped }: PendingLink): void => {
  if (ids === null) return;
  entries.writeLink(ids, traceState);
  entries.writeDropped(dropped + (properties === null ? 0 : entries.writeProperties(properties)), 0, 0);
};
