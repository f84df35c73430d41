// The way from scope to scope: two stores, and a look at whether a sample was taken since the last look. Only scopes that a sample
// may have met become known to a profile, so that those of millions of spans cost it nothing. The order of the lines counts: the
// signal handler runs between any two, and must never find an id whose scope goes unseen.
import { ownCode } from './own-frames.js';
import { register, type Scope } from './shared-state.js';

const endOwnCode = ownCode();

/** Elements of the cell; see `Register.cell`. */
export const LABEL_ID = 0;
export const IS_SAMPLED = 1;

const { cell } = register;

/** A sample was taken, in the scope that was left, in one around it, or in the one that is current by now. */
export const enrollSampled = (left: Scope): void => {
  // First: what is sampled from here on is seen by the next look.
  cell[IS_SAMPLED] = 0;
  const { enroll } = register;
  if (enroll === undefined) return;
  for (let at: Scope | undefined = left; at !== undefined; at = at.outer) enroll(at);
  enroll(register.current);
};

/** From now on samples belong to `scope`. */
export const makeCurrent = (scope: Scope): void => {
  const left = register.current;
  register.current = scope;
  cell[LABEL_ID] = scope.id;
  if (cell[IS_SAMPLED] !== 0) enrollSampled(left);
};

endOwnCode();
