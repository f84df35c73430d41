// Scopes within scopes: which labels are around which. Must keep depth and text bounded, whatever users nest.
import { mergedRecord } from './label-record.js';
import type { LabelRecord } from './labelled-profile.js';
import { ownCode } from './own-frames.js';
import { Counter, count } from './profile-counters.js';
import { type Labelled, NO_SCOPE, register, Scope } from './shared-state.js';

const endOwnCode = ownCode();

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
