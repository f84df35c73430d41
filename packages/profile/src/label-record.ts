// Label text within bounds. Labels carry whatever users send (queries, paths, binary rubbish): cut here once, so that nothing
// later needs to fear a text of megabytes. Escaping is each writer's own business.
import type { LabelRecord } from './labelled-profile.js';
import { ownCode } from './own-frames.js';
import { Counter, count } from './profile-counters.js';

const endOwnCode = ownCode();

export const MAX_KEY_LENGTH = 128;
export const MAX_VALUE_LENGTH = 1024;
export const MAX_KEYS = 32;

const CUT = '…';

// Half a surrogate pair, which UTF-8 cannot hold.
const LONE_SURROGATE = /\p{Surrogate}/gu;

const bounded = (text: string, max: number): string => {
  if (text.length <= max) return text.replace(LONE_SURROGATE, '\ufffd');
  count(Counter.labelTextCut);
  // Through bytes: a slice would keep the whole text of megabytes alive. Half a pair becomes U+FFFD here too.
  return Buffer.from(text.slice(0, max - CUT.length) + CUT).toString();
};

const boundedValue = (value: unknown): string | number => {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'string') return bounded(value, MAX_VALUE_LENGTH);
  try {
    return bounded(String(value), MAX_VALUE_LENGTH);
  } catch {
    // An object whose toString throws: a label must not fail for that.
    return typeof value;
  }
};

/** A record of the user's as it is kept: no prototype, so that a key `__proto__` is a key like any other. */
export const labelRecord = (labels: Readonly<Record<string, unknown>>): LabelRecord => {
  const out = Object.create(null) as Record<string, string | number>;
  const keys = Object.keys(labels);
  if (keys.length > MAX_KEYS) count(Counter.labelKeysOverCap, keys.length - MAX_KEYS);
  for (const key of keys.slice(0, MAX_KEYS)) out[bounded(key, MAX_KEY_LENGTH)] = boundedValue(labels[key]);
  return Object.freeze(out);
};

/** Both records as one; the inner value of a key wins. */
export const mergedRecord = (outer: LabelRecord, inner: LabelRecord): LabelRecord => {
  const out = Object.assign(Object.create(null) as Record<string, string | number>, outer, inner);
  const surplus = Object.keys(out).slice(MAX_KEYS);
  if (surplus.length > 0) count(Counter.labelKeysOverCap, surplus.length);
  for (const key of surplus) delete out[key];
  return Object.freeze(out);
};

endOwnCode();
