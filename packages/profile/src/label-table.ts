// The scopes that samples of a profile met, by id. Bounded by the samples there are and by its room: what finds none is counted, and
// an id that two scopes had is nobody's.
import { ownCode } from './own-frames.js';
import { Counter, count } from './profile-counters.js';
import { NO_SCOPE, type Scope } from './shared-state.js';

const endOwnCode = ownCode();

export const MAX_SCOPES = 65_536;

export class LabelTable {
  readonly #max: number;
  readonly #scopes = new Map<number, Scope | 'lost'>();
  #isOverfull = false;

  constructor(max = MAX_SCOPES) {
    this.#max = max;
  }

  add(scope: Scope): void {
    if (scope === NO_SCOPE) return;
    const known = this.#scopes.get(scope.id);
    if (known === scope) return;
    if (known !== undefined) {
      // Ids begin again after two thousand million.
      this.#scopes.set(scope.id, 'lost');
      return;
    }
    if (this.#scopes.size < this.#max) {
      this.#scopes.set(scope.id, scope);
      return;
    }
    this.#isOverfull = true;
    count(Counter.labelsOverCap);
  }

  /** `lost` for an id that nobody made known or that two scopes had, `overflow` when there may have been no room for it. */
  find(id: number): Scope | 'lost' | 'overflow' {
    if (id === NO_SCOPE.id) return NO_SCOPE;
    return this.#scopes.get(id) ?? (this.#isOverfull ? 'overflow' : 'lost');
  }
}

endOwnCode();
