// Properties of spans as text for a person: on one line, cut where they are long, never with a control character.

import { shortText } from '../../base/text/escape-text.js';
import { ArchivedDouble } from '../../record/archived-double.js';
import type { ArchivedProperties, ArchivedValue } from '../../record/archived-span.js';
import type { FinishedLink, SpanProperties } from '../../record/finished-span.js';
import { ObjectProperties } from '../../record/properties.js';

const MAX_ITEMS = 20;
const MAX_DEPTH = 4;
const MAX_BYTES = 16;

const list = (items: readonly string[], count: number, [open, close]: readonly [string, string]): string =>
  `${open}${items.join(', ')}${count > items.length ? ', …' : ''}${close}`;

/** A value as it would be written in JavaScript, about. */
export const formatValue = (value: ArchivedValue, depth = 0): string => {
  if (typeof value === 'string') return /^[\w./:@+-]+$/.test(value) ? shortText(value) : `"${shortText(value)}"`;
  if (typeof value !== 'object' || value === null || value instanceof ArchivedDouble) return String(value ?? '');
  if (value instanceof Uint8Array)
    return `<${value.length} bytes ${Buffer.from(value.subarray(0, MAX_BYTES)).toString('hex')}>`;
  if (depth === MAX_DEPTH) return '…';
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ITEMS).map((item: ArchivedValue) => formatValue(item, depth + 1));
    return list(items, value.length, ['[', ']']);
  }
  const map = new ObjectProperties().of(value as ArchivedProperties);
  return list(formatPairs(map, MAX_ITEMS, depth + 1), map.size, ['{', '}']);
};

/** `key=value` for the first properties. */
export const formatPairs = (
  properties: SpanProperties,
  limit: number,
  depth = 0,
  styleKey: (key: string) => string = String,
): string[] =>
  Array.from({ length: Math.min(limit, properties.size) }, (_, i) => {
    const key = styleKey(`${shortText(properties.key(i), 100)}=`);
    return key + formatValue(properties.value(i), depth);
  });

/** The span that a link leads to, and why. */
export const formatLink = (link: FinishedLink, limit: number, styleKey: (key: string) => string = String): string =>
  [`${shortText(link.traceId)}/${shortText(link.spanId)}`, ...formatPairs(link.properties, limit, 0, styleKey)].join(
    ' ',
  );
