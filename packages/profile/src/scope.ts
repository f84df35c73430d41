// Scopes within scopes: which labels are around which, and their text within bounds. Labels carry whatever users send (queries, paths, binary
// rubbish): cut here once, so that nothing later needs to fear a text of megabytes. Must keep depth and text bounded, whatever users nest. Escaping
// is each writer's own business.
import { attempt } from 'spanline/internal/base';
import type { LabelRecord } from './labelled-profile.js';
import { ownCode } from './own-frames.js';
import { Counter, count } from './profile-counters.js';
import { type Labelled, NO_SCOPE, register, Scope } from './shared-state.js';

const endOwnCode = ownCode();

const MAX_KEY_LENGTH = 128;
const MAX_VALUE_LENGTH = 1024;
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
  // An object's toString may throw: a label must not fail for that.
  return attempt(() => bounded(String(value), MAX_VALUE_LENGTH)) ?? typeof value;
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
const mergedRecord = (outer: LabelRecord, inner: LabelRecord): LabelRecord => {
  const out = Object.assign(Object.create(null) as Record<string, string | number>, outer, inner);
  const surplus = Object.keys(out).slice(MAX_KEYS);
  if (surplus.length > 0) count(Counter.labelKeysOverCap, surplus.length);
  for (const key of surplus) delete out[key];
  return Object.freeze(out);
};

/** Labels around each other that are kept; further in, the outermost goes. */
export const MAX_DEPTH = 16;

const LAST_ID = 0x7fff_ffff;

const nextId = (): number => {
  const id = register.nextId;
  // Ids are looked up in the table of one profile, which holds far fewer.
  register.nextId = id === LAST_ID ? 1 : id + 1;
  return id;
};

const inside = (outer: Scope, label: Labelled): Scope => new Scope(nextId(), label, outer, outer.depth + 1);

/** A label that was never entered before, inside `outer`. */
export const freshIn = (outer: Scope, label: Labelled): Scope =>
  outer.depth < MAX_DEPTH ? inside(outer, label) : nested(outer, label);

/** A scope that is this label alone. */
export const scopeOf = (label: Labelled): Scope => inside(NO_SCOPE, label);

/** The labels of a scope, outermost first. */
export const labelsOf = (scope: Scope): Labelled[] => {
  const labels: Labelled[] = [];
  for (let at: Scope | undefined = scope; at?.label !== undefined; at = at.outer) labels.unshift(at.label);
  return labels;
};

/** `label` inside `outer`. A label that is there already moves innermost: it was entered again. */
export const nested = (outer: Scope, label: Labelled): Scope => {
  if (outer.label === label) return outer;
  const around = labelsOf(outer);
  const isThere = around.includes(label);
  if (!isThere && around.length < MAX_DEPTH) return inside(outer, label);
  if (!isThere) count(Counter.nestingOverCap);
  const kept = isThere ? around.filter((each) => each !== label) : around.slice(1);
  return [...kept, label].reduce(inside, NO_SCOPE);
};

/** All labels of a scope as one record; the innermost value of a key wins. */
export const recordOf = (scope: Scope): LabelRecord => {
  const records = labelsOf(scope).map((label) => label.record);
  return records.length === 1 ? records[0] : records.reduce(mergedRecord, {});
};

endOwnCode();
