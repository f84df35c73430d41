// Members of JSON objects of others, read as the type they must have. A missing member and null are the type's default, as protobuf's JSON
// has it; anything else of a wrong type is an error, never a guess.
import { malformed } from './trace-format-error.js';

/** A JSON object whose members are not looked at yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

const typeOf = (value: unknown): string => (Array.isArray(value) ? 'a list' : value === null ? 'null' : typeof value);

const wrong = (what: string, expected: string, value: unknown): Error =>
  malformed(`${what} must be ${expected}, not ${typeof value === 'string' ? 'this text' : typeOf(value)}`);

/** An object that must be there. */
export const toObject = (value: unknown, what: string): JsonObject => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(what, 'an object', value);
  return value as JsonObject;
};

export const objectOf = (holder: JsonObject, key: string): JsonObject | undefined => {
  const value = holder[key];
  return isAbsent(value) ? undefined : toObject(value, key);
};

const NOTHING: readonly unknown[] = Object.freeze([]);

export const listOf = (holder: JsonObject, key: string): readonly unknown[] => {
  const value = holder[key];
  if (isAbsent(value)) return NOTHING;
  if (!Array.isArray(value)) throw wrong(key, 'a list', value);
  return value;
};

export const toText = (value: unknown, what: string): string => {
  if (typeof value !== 'string') throw wrong(what, 'a text', value);
  return value;
};

export const textOf = (holder: JsonObject, key: string): string => {
  const value = holder[key];
  return isAbsent(value) ? '' : toText(value, key);
};

const DIGITS = /^-?\d{1,20}$/;

/** A whole number, as a number where that is exact. Both forms that protobuf's JSON has are read: 5 and "5". */
export const toInteger = (value: unknown, what: string): number | bigint => {
  if (typeof value === 'string' && DIGITS.test(value)) {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : BigInt(value);
  }
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number))
    return Number.isSafeInteger(number) ? number : BigInt(number);
  throw wrong(what, 'a whole number', value);
};

/** The first whole number that has no room in 64 bits. */
export const UINT64_END = 2n ** 64n;

/** An unsigned 64-bit number. */
export const uint64Of = (holder: JsonObject, key: string): bigint => {
  const value = holder[key];
  if (isAbsent(value)) return 0n;
  const number = BigInt(toInteger(value, key));
  if (number < 0n || number >= UINT64_END) throw malformed(`${key} must be a number from 0 to 2^64 - 1`);
  return number;
};

/** An unsigned 32-bit number. */
export const uint32Of = (holder: JsonObject, key: string): number => {
  const value = holder[key];
  if (isAbsent(value)) return 0;
  const number = toInteger(value, key);
  if (typeof number === 'bigint' || number < 0 || number >= 2 ** 32)
    throw malformed(`${key} must be a number from 0 to 2^32 - 1`);
  return number;
};

/** A number, or the text of one: "NaN", "Infinity" and "-Infinity" are numbers. */
export const toDouble = (value: unknown, what: string): number => {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') throw wrong(what, 'a number', value);
  const number = Number(value);
  if (Number.isNaN(number) && value !== 'NaN') throw wrong(what, 'a number', value);
  return number;
};

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** Bytes as base64, of the usual or the URL alphabet. */
export const toBytes = (value: unknown, what: string): Uint8Array => {
  if (typeof value !== 'string' || !BASE64.test(value)) throw wrong(what, 'base64', value);
  return Uint8Array.from(Buffer.from(value, 'base64'));
};

const HEX = /^[0-9a-fA-F]*$/;

/** Hex digits in lower case; '' when there are none, and an id of no valid length when it is not hex. */
export const hexOf = (holder: JsonObject, key: string): string => {
  const value = holder[key];
  if (isAbsent(value)) return '';
  if (typeof value !== 'string') throw wrong(key, 'hex digits', value);
  return HEX.test(value) ? value.toLowerCase().slice(0, 33) : 'x';
};

/** An id of so many digits, of which older tracers write fewer. */
export const idOf = (holder: JsonObject, key: string, digits: number): string => {
  const id = hexOf(holder, key);
  return id === '' || id === 'x' ? id : id.padStart(digits, '0');
};
