// Which texts a param set can hold: those with a UTF-8 form, of bounded length. Two texts must never become one when they are
// written down, or two traces would share an id.
import { invalidInput } from '../tracedb-error.js';

/** Key and value of each param of one trace, such as `{ arch: 'x86', config: '8888' }`. */
export type Params = Readonly<Record<string, string>>;

/** UTF-16 code units of a key or value. */
export const MAX_PARAM_LENGTH = 1024;
/** Params of a trace: the places of so many always fit into a row key. */
export const MAX_PARAMS = 250;

const LONE_SURROGATE = /\p{Surrogate}/u;

/** `text` in quotes, cut short so that an error stays readable. */
export const quoted = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);

/** Throws `ERR_SPANLINE_INVALID_INPUT` for text that has no UTF-8 form. */
export const checkWellFormed = (what: string, text: string): void => {
  if (LONE_SURROGATE.test(text)) {
    throw invalidInput(`${what} ${quoted(text)} has a lone surrogate and so no UTF-8 form; use text.toWellFormed()`);
  }
};

const checkText = (what: string, text: unknown): void => {
  if (typeof text !== 'string') throw invalidInput(`${what} must be a string, not ${typeof text}`);
  if (text.length > MAX_PARAM_LENGTH) {
    throw invalidInput(`${what} ${quoted(text)} has ${text.length} characters; the limit is ${MAX_PARAM_LENGTH}`);
  }
  checkWellFormed(what, text);
};

/** Throws `ERR_SPANLINE_INVALID_INPUT` unless `key` can be the key of a param. */
export const checkKey = (key: string): void => {
  checkText('param key', key);
  if (key === '') throw invalidInput('a param key must not be empty; name it');
};

/** Throws `ERR_SPANLINE_INVALID_INPUT` unless `value` can be the value of `key`; it may be empty. */
export const checkValue = (key: string, value: string): void => checkText(`the value of param ${quoted(key)}`, value);

/** Negative, zero or positive as `a` sorts before, with or after `b`, by UTF-16 code unit. */
export const compareTexts = (a: string, b: string): number => Number(a > b) - Number(a < b);
