// Fits a query to what is known: params are cleaned when they are written, so a key or value that nothing has as it stands is looked
// for as cleaning would have written it. What is known as it stands must stay as it stands, and patterns are never changed.
import { type CleaningRule, cleanText, quoted } from '../params/param-text.js';
import type { Query, QueryPart } from './query.js';

/** Keys and values that there are: of a tile, or of the traces in memory. */
export interface KnownParams {
  keys(): readonly string[];
  /** None for an unknown key. */
  values(key: string): readonly string[];
  has(key: string, value?: string): boolean;
}

/** Why nothing meets a query, when one of its keys or values is not known; undefined when all are. */
export const unknownIn = ({ parts }: Query, known: KnownParams): string | undefined => {
  for (const { key, kind, values } of parts) {
    if (!known.has(key)) return `nothing has the key ${quoted(key)}${didYouMean(key, known.keys())}`;
    if (kind !== 'one-of' || values.some((value) => known.has(key, value))) continue;
    const [first] = values as readonly [string, ...string[]];
    return `nothing has ${quoted(`${key}=${first}`)}${didYouMean(first, known.values(key))}`;
  }
  return undefined;
};

const MAX_HINTS = 3;
/** How much farther than the nearest name another one may be. */
const SLACK = 1;
/** Names looked at for a hint, and the longest of them: a hint must cost nothing beside the query. */
const MAX_LOOKED_AT = 20_000;
const MAX_LENGTH = 64;

const fitPart = (known: KnownParams, rule: CleaningRule, { key, kind, values }: QueryPart): QueryPart => {
  const cleanKey = cleanText(key, rule);
  const name = !known.has(key) && known.has(cleanKey) ? cleanKey : key;
  if (kind !== 'one-of' && kind !== 'not-one-of') return { key: name, kind, values };
  const fitted = values.map((value) => {
    if (known.has(name, value)) return value;
    const clean = cleanText(value, rule);
    return known.has(name, clean) ? clean : value;
  });
  return { key: name, kind, values: [...new Set(fitted)] };
};

/** The query with keys and values that are not known as they stand, but as the rule cleans them, replaced by those. */
export const fitQuery = (query: Query, known: KnownParams, rule: CleaningRule): Query => {
  const parts = query.parts.map((part) => fitPart(known, rule, part));
  // Two keys that cleaning makes one are two conditions; they stay as they were written.
  const isUnique = new Set(parts.map(({ key }) => key)).size === parts.length;
  return isUnique ? { parts } : query;
};

/** Steps from one text to the other (Levenshtein), at most `most` + 1. */
const distance = (a: string, b: string, max: number): number => {
  if (Math.abs(a.length - b.length) > max) return max + 1;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + Number(a[i - 1] !== b[j - 1]);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
};

const plain = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '_');

/** How far `name` is from what was meant; undefined when it is something else. */
const score = (wanted: string, name: string): number | undefined => {
  if (name.length > MAX_LENGTH || wanted === '') return undefined;
  const other = plain(name);
  if (other === wanted) return 0;
  const max = Math.max(1, Math.floor((wanted.length + 2) / 3));
  const steps = distance(wanted, other, max);
  if (steps <= max) return steps;
  const isPart = wanted.length >= 3 && (other.includes(wanted) || (other.length >= 3 && wanted.includes(other)));
  return isPart ? MAX_LENGTH + Math.abs(other.length - wanted.length) : undefined;
};

/** `; did you mean "hello_mean"?` of the names that are nearest to `text`; empty when none is near. */
export const didYouMean = (text: string, names: readonly string[]): string => {
  if (text.length > MAX_LENGTH) return '';
  const wanted = plain(text);
  const near: { readonly name: string; readonly far: number }[] = [];
  for (const name of names.slice(0, MAX_LOOKED_AT)) {
    const far = score(wanted, name);
    if (far !== undefined) near.push({ name, far });
  }
  near.sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1));
  if (near.length === 0) return '';
  const nearest = (near[0] as { readonly far: number }).far;
  return `; did you mean ${near
    // What differs in signs only is what was meant.
    .filter(({ far }) => far <= nearest + Math.min(nearest, SLACK))
    .slice(0, MAX_HINTS)
    .map(({ name }) => quoted(name))
    .join(', ')}?`;
};
