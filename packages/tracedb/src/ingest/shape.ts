// What a JSON document must look like, said once for its check and for its type, and the error of a file: its name, the place in it, the reason. A
// problem must name the place and what stood there, and never descend into what is wrong: it may be nested without end. No message may quote more
// than a line of the file, nor characters that steer a terminal: what is refused may be hostile.
import { escapeText } from 'spanline/internal/base';
import { invalidInput, TraceDbError } from '../tracedb-error.js';

/** What is wrong at one place of a JSON document. */
export interface Problem {
  /** JSON pointer (RFC 6901); empty for the whole document. */
  readonly path: string;
  readonly reason: string;
}

const MAX_SHOWN = 60;
const MAX_POINTER = 200;

const cut = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max - 3)}...` : text);

/** A text of the file as it may stand in a message: short and quoted. */
export const quoted = (text: string): string => JSON.stringify(cut(text, MAX_SHOWN));

/** What a JSON value is, in a few words; never descends into it, because it may be nested without end. */
export const shown = (value: unknown): string => {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
};

/** The JSON pointer (RFC 6901) to `steps` under `base`. */
export const pointer = (base: string, ...steps: readonly (string | number)[]): string =>
  base + steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** `path` and `reason` as one text; `path` is a JSON pointer, empty for the whole. */
export const problemText = (path: string, reason: string): string =>
  escapeText(path === '' ? reason : `${cut(path, MAX_POINTER)} ${reason}`);

/** `ERR_SPANLINE_FILE` for a file that is missing or unreadable. */
export const unreadableFile = (at: string, reason: string, cause?: unknown): TraceDbError =>
  new TraceDbError(
    'ERR_SPANLINE_FILE',
    `${escapeText(at)}: ${escapeText(reason)}`,
    cause === undefined ? undefined : { cause },
  );

/** `ERR_SPANLINE_INVALID_INPUT` for the file, or file and line, `at`. */
export const badFile = (at: string, path: string, reason: string, cause?: unknown): TraceDbError =>
  invalidInput(`${escapeText(at)}: ${problemText(path, reason)}`, cause === undefined ? undefined : { cause });

/** The problems of a value, none when it has the shape. Unless `all` are wanted the first is enough: a document wrong everywhere costs no more. */
export interface Shape<T> {
  (value: unknown, all: boolean): readonly Problem[];
  /** Never there: it carries the type. */
  readonly type?: T;
}

/** The type of the values that have a shape. */
export type Shaped<S> = S extends Shape<infer T> ? T : never;

type Fields = Readonly<Record<string, Shape<unknown>>>;

const NONE: readonly Problem[] = [];

const wrong = (value: unknown, rule: string): readonly Problem[] => [
  { path: '', reason: `must ${rule}, got ${shown(value)}` },
];

/** Whether a JSON value is an object, and not an array. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The problems of a value, which is at `step` of its object or array. */
const below = (step: string | number, problems: readonly Problem[]): readonly Problem[] =>
  problems.length === 0 ? NONE : problems.map(({ path, reason }) => ({ path: pointer('', step) + path, reason }));

/** A text of so many characters. */
export const text =
  (fewest = 0, max = Number.POSITIVE_INFINITY): Shape<string> =>
  (value) => {
    if (typeof value !== 'string') return wrong(value, 'be string');
    if (value.length < fewest) return wrong(value, `NOT have fewer than ${fewest} characters`);
    const isTooLong = value.length > max && [...value].length > max;
    return isTooLong ? wrong(value, `NOT have more than ${max} characters`) : NONE;
  };

/** Bounds of a number; `above` and `below` are not among the numbers themselves. */
interface Bounds {
  readonly min?: number;
  readonly max?: number;
  readonly above?: number;
  readonly below?: number;
}

/** A finite number within bounds; JSON such as 1e999 is none. */
export const number =
  ({ min, max, above, below }: Bounds = {}, kind: 'number' | 'integer' = 'number'): Shape<number> =>
  (value) => {
    const isKind = kind === 'number' ? Number.isFinite(value) : Number.isInteger(value);
    if (!isKind) return wrong(value, `be ${kind}`);
    const size = value as number;
    if (min !== undefined && size < min) return wrong(value, `be >= ${min}`);
    if (max !== undefined && size > max) return wrong(value, `be <= ${max}`);
    if (above !== undefined && size <= above) return wrong(value, `be > ${above}`);
    return below !== undefined && size >= below ? wrong(value, `be < ${below}`) : NONE;
  };

/** A whole number within bounds. */
export const integer = (bounds?: Bounds): Shape<number> => number(bounds, 'integer');

/** One of some values. */
export const oneOf =
  <const T>(...values: readonly T[]): Shape<T> =>
  (value) => {
    if (values.includes(value as T)) return NONE;
    return wrong(value, `be ${values.length > 1 ? 'one of ' : ''}${values.map(shown).join(', ')}`);
  };

/** What has one shape or the other. */
export const either =
  <A, B>(one: Shape<A>, other: Shape<B>): Shape<A | B> =>
  (value, all) =>
    other(value, false).length === 0 ? NONE : one(value, all);

/** An array of at most so many items. */
export const list =
  <T>(item: Shape<T>, max = Number.POSITIVE_INFINITY, kind: 'any' | 'unique' = 'any'): Shape<readonly T[]> =>
  (value, all) => {
    if (!Array.isArray(value)) return wrong(value, 'be array');
    if (value.length > max) return wrong(value, `NOT have more than ${max} items`);
    const found: Problem[] = [];
    for (let i = 0; i < value.length && (all || found.length === 0); i++) found.push(...below(i, item(value[i], all)));
    if (kind === 'unique' && new Set(value).size < value.length) {
      found.push(...wrong(value, 'NOT have duplicate items'));
    }
    return found;
  };

/** An object with any keys, or with at most so many of a shape. */
export const record =
  <T>(item: Shape<T>, max = Number.POSITIVE_INFINITY, name = text()): Shape<Readonly<Record<string, T>>> =>
  (value, all) => {
    if (!isObject(value)) return wrong(value, 'be object');
    const keys = Object.keys(value);
    if (keys.length > max) return wrong(value, `NOT have more than ${max} properties`);
    const found: Problem[] = [];
    for (const key of keys) {
      if (found.length > 0 && !all) break;
      const isName = name(key, false).length === 0;
      found.push(
        ...below(key, isName ? item(value[key], all) : [{ path: '', reason: 'is not a name that may be used here' }]),
      );
    }
    return found;
  };

/** An object with some keys; others are not looked at or, when it is `closed`, refused: a misspelled one would otherwise have no effect. */
export const object = <R extends Fields, O extends Fields>(
  required: R,
  optional: O,
  kind: 'open' | 'closed' = 'open',
): Shape<{ readonly [K in keyof R]: Shaped<R[K]> } & { readonly [K in keyof O]?: Shaped<O[K]> }> => {
  const fields = Object.entries({ ...required, ...optional });
  const needed = Object.keys(required);
  const known = new Set(fields.map(([key]) => key));
  return (value, all) => {
    if (!isObject(value)) return wrong(value, 'be object');
    const found: Problem[] = [];
    const add = (what: string, key: string) => found.push({ path: '', reason: `${what} property ${quoted(key)}` });
    for (const key of needed) if (!Object.hasOwn(value, key)) add('lacks the', key);
    if (kind === 'closed') for (const key of Object.keys(value)) if (!known.has(key)) add('has the unknown', key);
    for (const [key, shape] of fields) {
      if (found.length > 0 && !all) break;
      if (Object.hasOwn(value, key)) found.push(...below(key, shape(value[key], all)));
    }
    return found;
  };
};

/** The document, which has the shape; throws `ERR_SPANLINE_INVALID_INPUT` otherwise. `at` names the file, or file and line. */
export const shaped = <T>(shape: Shape<T>, at: string, document: unknown): T => {
  for (const { path, reason } of shape(document, false)) throw badFile(at, path, reason);
  return document as T;
};
