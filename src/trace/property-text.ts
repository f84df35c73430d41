// Property values as text, as searches compare them.
import type { ArchivedValue } from './archived-span.js';
import { goJson } from './value-json.js';

/** A text as it is, '' for no content, numbers and booleans as JavaScript writes them, bytes in base64, lists and maps as JSON. */
export const propertyText = (value: ArchivedValue): string => {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (typeof value === 'object') return JSON.stringify(value, (_, item: ArchivedValue) => plain(item));
  return String(value);
};

/** Whether a search for a text means the value. Lists, maps and minus zero may also be written as Jaeger shows them. */
export const isPropertyText = (value: ArchivedValue, text: string): boolean =>
  propertyText(value) === text || (isShownOtherwise(value) && goJson(value) === text);

const isShownOtherwise = (value: ArchivedValue): boolean =>
  typeof value === 'object' ? !(value instanceof Uint8Array) : Object.is(value, -0);

const plain = (value: ArchivedValue): unknown => {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return value;
};
