// Durations, times and properties as a person reads them: on one line, cut where they are long, never with a control character.
// For display only: durations are rounded.

import { shortText } from '../../base/text/escape-text.js';
import { ArchivedDouble, type ArchivedProperties, type ArchivedValue } from '../../record/archived-span.js';
import type { FinishedLink, SpanProperties } from '../../record/finished-span.js';
import { ObjectProperties } from '../../record/properties.js';
import { type Glyphs, UNICODE } from './palette.js';

type Unit = readonly [limitNs: number, divisor: number, unit: 'ns' | 'micro' | 'ms' | 's'];
const SECONDS: Unit = [Number.POSITIVE_INFINITY, 1e9, 's'];
const UNITS: readonly Unit[] = [[1e3, 1, 'ns'], [1e6, 1e3, 'micro'], [1e9, 1e6, 'ms'], SECONDS];

/** Three significant digits: `85 ns`, `1.23 µs`, `12.4 ms`, `345 s`. */
export const formatDuration = (ns: number, { micro }: Pick<Glyphs, 'micro'> = UNICODE): string => {
  // 999.6 of a unit would round to 1000 of it: take the next unit instead.
  const [, divisor, unit] = UNITS.find(([limit, divisor]) => ns < limit - divisor / 2) ?? SECONDS;
  const value = ns / divisor;
  const digits = divisor === 1 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit === 'micro' ? micro : unit}`;
};

const NS_PER_MS = 1_000_000n;
/** `2026-01-31 12:00:00.123`, UTC. */
export const shortTime = (unixNs: bigint): string =>
  new Date(Number(unixNs / NS_PER_MS)).toISOString().replace('T', ' ').slice(0, -1);

/** The stretch of time that the width stands for. */
export interface Extent {
  readonly startUnixNs: bigint;
  readonly durationNs: bigint;
}

/** Nanoseconds behind the start of the trace. */
export const sinceStart = (unixNs: bigint, { startUnixNs }: Extent): number => Number(unixNs - startUnixNs);

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
