// Values of query parameters as Jaeger's APIs write them: Go durations, RFC 3339 times, Unix microseconds, ids. A wrong one is a 400 that
// names it, never a default.
import { attempt, timers } from 'spanline/internal/base';
import { HttpError } from './http-error.js';

const wrong = (name: string, expected: string): HttpError =>
  new HttpError(400, `the parameter ${name} must be ${expected}`);

/** The first of some names that has a value, for parameters with older names. */
export const pick = (
  query: URLSearchParams,
  ...names: readonly string[]
): readonly [name: string, value: string] | undefined => {
  for (const name of names) {
    const value = query.get(name);
    if (value !== null && value !== '') return [name, value];
  }
  return undefined;
};

/** The value of a parameter that must be there. */
export const required = (query: URLSearchParams, name: string): string => {
  const value = query.get(name) ?? '';
  if (value === '') throw new HttpError(400, `the parameter ${name} is required`);
  return value;
};

const UNIT_NS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const DURATION = /^(?:\d{1,18}(?:\.\d{0,18})?(?:ns|us|µs|μs|ms|s|m|h))+$/;
const DURATION_PARTS = /(\d+)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g;

/** Nanoseconds of `1.5s`, `2m30s`, `100us`. */
export const durationNs = ([name, text]: readonly [string, string]): bigint => {
  if (text === '0') return 0n;
  if (text.length > 100 || !DURATION.test(text)) throw wrong(name, 'a duration such as 1.5s, 200ms or 2m30s');
  let total = 0n;
  for (const [, whole, fraction = '', unit] of text.matchAll(DURATION_PARTS)) {
    total += BigInt(whole) * UNIT_NS[unit] + (BigInt(fraction || '0') * UNIT_NS[unit]) / 10n ** BigInt(fraction.length);
  }
  return total;
};

// A plus sign that was not escaped arrives as a blank.
const TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([-+ ])(\d\d):(\d\d))$/;

/** Unix nanoseconds of an RFC 3339 time. */
export const rfc3339Ns = ([name, text]: readonly [string, string]): bigint => {
  const match = TIME.exec(text);
  if (match !== null) {
    const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHours = '0', offsetMinutes = '0'] =
      match;
    const ms = Date.UTC(+year, +month - 1, +day, +hour, +minute, +second);
    const isDay = new Date(ms).getUTCDate() === +day && +hour < 24 && +minute < 60 && +second < 60;
    if (isDay && +month >= 1 && +month <= 12) {
      const offset = BigInt(+offsetHours * 60 + +offsetMinutes) * 60_000_000_000n;
      const local = BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
      return sign === '-' ? local + offset : local - offset;
    }
  }
  throw wrong(name, 'a time such as 2026-01-31T12:00:00.5Z');
};

const NS_PER_MS = 1_000_000n;
const DAY = /^\d{4}-\d\d-\d\d$/;
const AGO = /^\d+(?:\.\d*)?(?:ns|us|µs|μs|ms|s|m|h)/;

/** Unix nanoseconds of a time as people write it: `15m` for as long ago, a day in UTC, an RFC 3339 time. */
export const timeNs = (found: readonly [string, string]): bigint => {
  const [name, text] = found;
  if (AGO.test(text)) return BigInt(timers.wallMs()) * NS_PER_MS - durationNs(found);
  return rfc3339Ns([name, DAY.test(text) ? `${text}T00:00:00Z` : text]);
};

const NS_PER_DAY = 86_400_000n * NS_PER_MS;

/** The same for the end of a stretch, to which all of a day belongs. */
export const endTimeNs = (found: readonly [string, string]): bigint =>
  timeNs(found) + (DAY.test(found[1]) ? NS_PER_DAY - 1n : 0n);

/** Unix nanoseconds of Unix microseconds. */
export const microsecondsNs = ([name, text]: readonly [string, string]): bigint => {
  if (!/^\d{1,17}$/.test(text)) throw wrong(name, 'Unix time in microseconds');
  return BigInt(text) * 1000n;
};

/** A whole number. */
export const wholeNumber = ([name, text]: readonly [string, string], min: number, max: number): number => {
  const value = Number(text);
  if (/^\d{1,9}$/.test(text) && value >= min && value <= max) return value;
  throw wrong(name, `a whole number from ${min} to ${max}`);
};

/** Unix nanoseconds of Unix milliseconds, or nanoseconds of milliseconds. */
export const millisecondsNs = ([name, text]: readonly [string, string]): bigint => {
  if (!/^\d{1,15}$/.test(text)) throw wrong(name, 'a number of milliseconds');
  return BigInt(text) * 1_000_000n;
};

/** 32 lower-case hex digits; shorter ids, of older tracers, have zeros in front. No trace has the id zero, but it may be asked for. */
export const traceIdOf = (name: string, text: string): string => {
  if (!/^[0-9a-fA-F]{1,32}$/.test(text)) throw wrong(name, 'a trace id of up to 32 hex digits');
  return text.toLowerCase().padStart(32, '0');
};

/** A JSON object of texts. */
export const textMap = ([name, text]: readonly [string, string]): Record<string, string> => {
  const map: unknown = attempt(() => JSON.parse(text));
  if (typeof map !== 'object' || map === null || Array.isArray(map)) throw wrong(name, 'a JSON object of texts');
  return Object.fromEntries(
    Object.entries(map).map(([key, value]) => {
      if (typeof value === 'object') throw wrong(name, 'a JSON object of texts');
      return [key, String(value)];
    }),
  );
};
