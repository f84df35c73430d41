// Property values as text, as searches compare them.
import type { ArchivedValue } from '../../archived-span.js';

/** A text as it is, numbers and booleans as JavaScript writes them, bytes in base64, lists and maps as JSON. */
export const propertyText = (value: ArchivedValue): string => {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (typeof value === 'object') return JSON.stringify(value, (_, item: ArchivedValue) => plain(item));
  return String(value);
};

const plain = (value: ArchivedValue): unknown => {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return value;
};
