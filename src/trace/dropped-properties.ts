// How much of a span, an event or a link was left out. OTLP has fields for it; for formats that have none OpenTelemetry
// names these properties, and theirs are the names here. Nothing for what is whole.
import type { PropertyList } from '../local-span/property.js';

const NOTHING: PropertyList = Object.freeze([]);

/** The counts above zero, as key, value, key, value. */
export const droppedProperties = (attributes: number, events = 0, links = 0): PropertyList => {
  if (attributes === 0 && events === 0 && links === 0) return NOTHING;
  const out: (string | number)[] = [];
  if (attributes > 0) out.push('otel.dropped_attributes_count', attributes);
  if (events > 0) out.push('otel.dropped_events_count', events);
  if (links > 0) out.push('otel.dropped_links_count', links);
  return out;
};
