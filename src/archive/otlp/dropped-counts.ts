// How many properties, events and links a sender left out. OTLP has fields for it and other formats have none, for which OpenTelemetry
// names these properties; the archive keeps them so, and they become fields again.
import type { ArchivedValue } from '../archived-span.js';
import { setProperty } from '../properties.js';

export const DROPPED_ATTRIBUTES = 'otel.dropped_attributes_count';
export const DROPPED_EVENTS = 'otel.dropped_events_count';
export const DROPPED_LINKS = 'otel.dropped_links_count';

/** OTLP's field for each. */
export const DROPPED_FIELDS = {
  [DROPPED_ATTRIBUTES]: 'droppedAttributesCount',
  [DROPPED_EVENTS]: 'droppedEventsCount',
  [DROPPED_LINKS]: 'droppedLinksCount',
} as const;

/** Keep a count, unless nothing was dropped or the sender has said it as a property. */
export const setDropped = (
  properties: Record<string, ArchivedValue>,
  key: keyof typeof DROPPED_FIELDS,
  count: number,
): void => {
  if (count > 0 && !Object.hasOwn(properties, key)) setProperty(properties, key, count);
};

/** The OTLP field a property stands for, among those that the message has. */
export const droppedFieldOf = (
  key: string,
  value: ArchivedValue,
  known: readonly string[],
): (typeof DROPPED_FIELDS)[keyof typeof DROPPED_FIELDS] | undefined =>
  known.includes(key) && typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 2 ** 32
    ? DROPPED_FIELDS[key as keyof typeof DROPPED_FIELDS]
    : undefined;
