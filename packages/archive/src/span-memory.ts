// What a span takes in memory once decoded, about: what asking for its trace will cost.
import type { ArchivedProperties, ArchivedSpan } from 'spanline/internal/record';
import { storedProperties } from './stored-extras.js';
import { decodedBytes } from './values/values.js';

/** What a span without anything takes, and what a property, an event or a link adds at least. */
export const SPAN_BYTES = 320;
export const PROPERTY_BYTES = 32;
export const EVENT_BYTES = 120;
export const LINK_BYTES = 200;

const propertyBytes = (properties: ArchivedProperties): number => {
  let bytes = 0;
  for (const key of Object.keys(properties)) bytes += PROPERTY_BYTES + key.length + decodedBytes(properties[key]);
  return bytes;
};

/** Bytes of a span in memory; a segment counts the same while it is written. */
export const spanMemory = (span: ArchivedSpan): number => {
  const { name, traceState, status, events, links } = span;
  let bytes =
    SPAN_BYTES + name.length + traceState.length + status.message.length + propertyBytes(storedProperties(span));
  for (const event of events) bytes += EVENT_BYTES + event.name.length + propertyBytes(storedProperties(event));
  for (const link of links) bytes += LINK_BYTES + link.traceState.length + propertyBytes(storedProperties(link));
  return bytes;
};
