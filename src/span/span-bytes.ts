// What a finished span holds, by estimate, for the bounds in bytes. On the recording path: a span to which nothing was
// added costs four checks.
import { BYTES_PER_PROPERTY, bytesOfProperties, bytesOfValue } from '../local-span/value-bytes.js';
import type { Span } from './span.js';

// A Span object with its fields, and its place in the lists.
const BYTES_PER_SPAN = 320;
const BYTES_PER_EVENT = 64;
const BYTES_PER_LINK = 192;
const BYTES_PER_PARENT = 48;

// Small, so that V8 puts it into its caller.
export const bytesOfSpan = (span: Span): number =>
  span.propertyList === null && span.events === null && span.links === null && span.alsoUnder === null
    ? BYTES_PER_SPAN
    : BYTES_PER_SPAN + bytesAdded(span);

const bytesAdded = ({ propertyList, events, links, alsoUnder }: Span): number => {
  let bytes = alsoUnder === null ? 0 : alsoUnder.length * BYTES_PER_PARENT;
  if (propertyList !== null) {
    for (let i = 1; i < propertyList.length; i += 2) bytes += BYTES_PER_PROPERTY + bytesOfValue(propertyList[i]);
  }
  if (events !== null) for (const { properties } of events) bytes += BYTES_PER_EVENT + bytesOfProperties(properties);
  if (links !== null) for (const { properties } of links) bytes += BYTES_PER_LINK + bytesOfProperties(properties);
  return bytes;
};
