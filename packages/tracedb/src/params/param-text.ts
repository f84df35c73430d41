// Which texts params can have: those with a UTF-8 form, of bounded length, of the characters that a store's rule allows; how others are replaced; and
// the name of a trace as people see it, its structured key `,arch=x86,config=8888,`. Two texts must never become one when they are written down, or
// two traces would share an id, nor a text be read as a structured key that is not the one of its trace. A rule must never let a comma or an equals
// sign through: they separate the parts of a structured key.
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

const REPLACEMENT = '_';
const SURROGATE = '\ud800';
// The inside of a character class, so that a rule cannot become any other expression: no bracket but an escaped one.
const CLASS_BODY = /^(?!\^)(?:\\\P{Surrogate}|[^\\[\]\p{Surrogate}])+$/u;

/** Which characters the keys and values of a store may have. */
export interface CleaningRule {
  /** The inside of a character class, as between `[` and `]` of a regular expression with the flag `u`. */
  readonly allowed: string;
  /** Matches each character that is not allowed (flags `g` and `u`); for `replace` and `search` only. */
  readonly forbidden: RegExp;
}

/**
 * A rule that allows the characters of a class; use it for a store whose params need more than the default. Throws
 * `ERR_SPANLINE_INVALID_INPUT` when the class is malformed, allows one of `,` and `=`, or lacks `_`, which replaces others.
 *
 * @example
 * ```ts
 * import { cleaningRule, makeStructuredKey } from '@spanline/tracedb';
 * const rule = cleaningRule('A-Za-z0-9._ /-');
 * console.assert(makeStructuredKey({ name: 'a b/c' }, rule) === ',name=a b/c,');
 * ```
 */
export const cleaningRule = (allowed: string): CleaningRule => {
  if (!CLASS_BODY.test(allowed)) {
    throw invalidInput(
      `cleaning rule ${quoted(allowed)} must be the inside of a character class, such as A-Za-z0-9._-`,
    );
  }
  let forbidden: RegExp;
  try {
    forbidden = new RegExp(`[^${allowed}]`, 'gu');
  } catch (cause) {
    throw invalidInput(
      `cleaning rule ${quoted(allowed)} is not the inside of a character class: ${(cause as Error).message}`,
      {
        cause,
      },
    );
  }
  for (const separator of [',', '=', SURROGATE]) {
    if (separator.search(forbidden) < 0) {
      throw invalidInput(
        `cleaning rule ${quoted(allowed)} allows ${quoted(separator)}, which no param may have; leave it out`,
      );
    }
  }
  if (REPLACEMENT.search(forbidden) >= 0) {
    throw invalidInput(`cleaning rule ${quoted(allowed)} must allow "_", which replaces what is not allowed; add it`);
  }
  return Object.freeze({ allowed, forbidden });
};

/** Letters and digits of ASCII, dot, underscore and hyphen. */
export const DEFAULT_RULE: CleaningRule = cleaningRule('A-Za-z0-9._-');

/** One key or value as the rule writes it. */
export const cleanText = (text: string, rule: CleaningRule): string =>
  text === '' ? REPLACEMENT : text.replace(rule.forbidden, REPLACEMENT);

/**
 * Params with every character that the rule forbids replaced by `_`, and `_` for an empty text; use it on input that others
 * write. Throws `ERR_SPANLINE_INVALID_INPUT` when two keys become one, and when a text is too long.
 *
 * @example
 * ```ts
 * import { forceValid } from '@spanline/tracedb';
 * console.assert(forceValid({ 'test name': 'a=b' })['test_name'] === 'a_b');
 * ```
 */
export const forceValid = (params: Params, rule: CleaningRule = DEFAULT_RULE): Params => {
  const cleaned = new Map<string, string>();
  for (const key of Object.keys(params)) {
    const value = params[key];
    if (typeof value !== 'string') {
      throw invalidInput(`the value of param ${quoted(key)} must be a string, not ${typeof value}`);
    }
    const name = cleanText(key, rule);
    if (cleaned.has(name)) {
      throw invalidInput(`param ${quoted(key)} and another one both become ${quoted(name)}; rename one of them`);
    }
    cleaned.set(name, cleanText(value, rule));
  }
  const valid = Object.fromEntries(cleaned);
  checkParams(valid, rule);
  return valid;
};

const isAllowed = (text: unknown, rule: CleaningRule): boolean =>
  typeof text === 'string' && text !== '' && text.length <= MAX_PARAM_LENGTH && text.search(rule.forbidden) < 0;

const checkAllowed = (what: string, text: string, rule: CleaningRule): void => {
  const at = text.search(rule.forbidden);
  if (at < 0) return;
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
  throw invalidInput(
    `${what} ${quoted(text)} has the character ${quoted(character)}; allowed are [${rule.allowed}]: rename it, or use forceValid(params)`,
  );
};

/**
 * Throws `ERR_SPANLINE_INVALID_INPUT` unless there are 1 to 250 params and the rule allows every character of every key and value;
 * neither may be empty.
 *
 * @example
 * ```ts
 * import { checkParams } from '@spanline/tracedb';
 * checkParams({ arch: 'x86' });
 * ```
 */
export const checkParams = (params: Params, rule: CleaningRule = DEFAULT_RULE): void => {
  if (typeof params !== 'object' || params === null) {
    throw invalidInput(`params must be an object of texts, not ${params === null ? 'null' : typeof params}`);
  }
  const keys = Object.keys(params);
  if (keys.length === 0) throw invalidInput('a trace must have at least one param; give it one');
  if (keys.length > MAX_PARAMS) {
    throw invalidInput(
      `a trace has ${keys.length} params; the limit is ${MAX_PARAMS}: leave out params that distinguish no traces`,
    );
  }
  for (const key of keys) {
    // The usual case costs one look at every character: a rule allows no lone surrogates either.
    if (isAllowed(key, rule) && isAllowed(params[key], rule)) continue;
    checkKey(key);
    checkValue(key, params[key]);
    if (params[key] === '') throw invalidInput(`the value of param ${quoted(key)} is empty; leave the param out`);
    checkAllowed('param key', key, rule);
    checkAllowed(`the value of param ${quoted(key)},`, params[key], rule);
  }
};

/**
 * The structured key of these params: `,key=value,...,`, sorted by key. Use it wherever a trace needs a name that does not depend
 * on a tile. Throws `ERR_SPANLINE_INVALID_INPUT` when the rule refuses the params.
 *
 * @example
 * ```ts
 * import { makeStructuredKey } from '@spanline/tracedb';
 * console.assert(makeStructuredKey({ config: '8888', arch: 'x86' }) === ',arch=x86,config=8888,');
 * ```
 */
export const makeStructuredKey = (params: Params, rule: CleaningRule = DEFAULT_RULE): string => {
  checkParams(params, rule);
  return structuredKeyOf(params);
};

/**
 * The structured key of params that come from a store. They were checked when they were written, by a rule that the reader need
 * not know; use `makeStructuredKey` for params from anywhere else.
 *
 * @example
 * ```ts
 * import { structuredKeyOf } from '@spanline/tracedb';
 * console.assert(structuredKeyOf({ unit: 'ops/s', test: 'a b' }) === ',test=a b,unit=ops/s,');
 * ```
 */
export const structuredKeyOf = (params: Params): string => {
  let text = ',';
  for (const key of Object.keys(params).sort()) text += `${key}=${params[key]},`;
  return text;
};

/**
 * The params a structured key names. Throws `ERR_SPANLINE_INVALID_INPUT` unless it is in the one form `makeStructuredKey` gives:
 * keys sorted and unique, commas at both ends, only characters of the rule.
 *
 * @example
 * ```ts
 * import { parseStructuredKey } from '@spanline/tracedb';
 * console.assert(parseStructuredKey(',arch=x86,config=8888,').config === '8888');
 * ```
 */
export const parseStructuredKey = (text: string, rule: CleaningRule = DEFAULT_RULE): Params => {
  const refuse = (why: string): Error =>
    invalidInput(`structured key ${quoted(text)} ${why}; write ,key=value,key=value,`);
  if (text.length < 2 || !text.startsWith(',') || !text.endsWith(',')) throw refuse('must start and end with a comma');
  const entries: [string, string][] = [];
  let last = '';
  for (const part of text.slice(1, -1).split(',')) {
    const equals = part.indexOf('=');
    if (equals < 0) throw refuse(`has the part ${quoted(part)} without "="`);
    const key = part.slice(0, equals);
    if (entries.length > 0 && key === last) throw refuse(`has the key ${quoted(key)} twice`);
    if (entries.length > 0 && key < last)
      throw refuse(`has the key ${quoted(key)} after ${quoted(last)}, out of order`);
    last = key;
    entries.push([key, part.slice(equals + 1)]);
  }
  const params = Object.fromEntries(entries);
  checkParams(params, rule);
  return params;
};
