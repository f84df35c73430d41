// Checks of the small values that callers hand over: times, counts, names.
import { quoted } from '../params/param-text.js';
import { invalidInput } from '../tracedb-error.js';

/** A moment: a Date, or Unix milliseconds. */
export type Time = Date | number;

/** The last one a cell can carry. */
const MAX_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** `time` in whole Unix milliseconds. Throws `ERR_SPANLINE_INVALID_INPUT` unless it is from 1970 to 9999. */
export const toMs = (name: string, time: Time): number => {
  const ms = time instanceof Date ? time.getTime() : time;
  if (typeof ms === 'number' && ms >= 0 && ms <= MAX_MS) return Math.floor(ms);
  throw invalidInput(`${name} must be a Date or Unix milliseconds, from 1970 to 9999, not ${String(time)}`);
};

const LONE_SURROGATE = /\p{Surrogate}/u;

/** `value` when it is text of at most `max` UTF-16 code units; throws `ERR_SPANLINE_INVALID_INPUT` otherwise. */
export const textIn = (name: string, value: unknown, min: number, max: number): string => {
  if (typeof value !== 'string') throw invalidInput(`${name} must be a string, not ${typeof value}`);
  if (value.length < min || value.length > max) {
    throw invalidInput(`${name} ${quoted(value)} must have ${min} to ${max} characters, not ${value.length}`);
  }
  if (LONE_SURROGATE.test(value) || value.includes('\0')) {
    throw invalidInput(`${name} ${quoted(value)} has a lone surrogate or NUL; take it out`);
  }
  return value;
};
