// Small values of a Gold store, checked: digests, times, texts. A digest is lower-case hex digits of one length. One image must have one digest, so
// upper case is refused, never folded. In cells a digest is a number, a varint of exactly one form; a longer one must never be read as if it were
// that.
import { ByteReader, ByteWriter } from 'spanline/internal/base';
import { quoted } from '../params/param-text.js';
import { MAX_TIMESTAMP_MS } from '../table/checked-table.js';
import { invalidInput, storeCorrupt } from '../tracedb-error.js';

/** The digest of a commit at which a trace has no result; its id is 0. */
export const MISSING_DIGEST = '';
export const MISSING_ID = 0;

/** Digits of MD5. */
export const DEFAULT_DIGEST_DIGITS = 32;

const HEX = /^[0-9a-f]+$/;

/** Throws `ERR_SPANLINE_INVALID_INPUT` unless `digest` is one of `digits` digits; `where` says whose it is. */
export const checkDigest = (digest: unknown, digits: number, where: string): void => {
  if (typeof digest === 'string' && digest.length === digits && HEX.test(digest)) return;
  const shown = typeof digest === 'string' ? JSON.stringify(digest.slice(0, 140)) : typeof digest;
  throw invalidInput(`the digest ${shown} of ${where} must be ${digits} lower-case hex digits`);
};

const writer = new ByteWriter();

/** The bytes of a safe integer from 0. */
export const encodeVarint = (value: number): Uint8Array => {
  writer.clear();
  writer.varint(value);
  return Uint8Array.from(writer.view());
};

/** The number in `bytes`; throws `ERR_SPANLINE_STORE_CORRUPT` for anything `encodeVarint` does not make. `where` is for the message. */
export const decodeVarint = (bytes: Uint8Array, where: () => string): number => {
  const reader = new ByteReader(bytes, () =>
    storeCorrupt(
      `${where()} holds ${Buffer.from(bytes.subarray(0, 16)).toString('hex') || 'no bytes'}, which is not a digest id; write it again`,
    ),
  );
  const value = reader.shortestVarint();
  reader.end();
  return value;
};

/** A moment: a Date, or Unix milliseconds. */
export type Time = Date | number;

/** `time` in whole Unix milliseconds. Throws `ERR_SPANLINE_INVALID_INPUT` unless it is from 1970 to 9999. */
export const toMs = (name: string, time: Time): number => {
  const ms = time instanceof Date ? time.getTime() : time;
  if (typeof ms === 'number' && ms >= 0 && ms <= MAX_TIMESTAMP_MS) return Math.floor(ms);
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
