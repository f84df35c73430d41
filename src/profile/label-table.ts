// The scopes that a profile may meet in its notes, by id. Bounded: when it is full, what no note has named is forgotten, and
// those still in use make themselves known again.
import { Counter, count } from './profile-counters.js';
import { NO_SCOPE, register, type Scope } from './shared-state.js';

export const MAX_SCOPES = 65_536;

export class LabelTable {
  private scopes = new Map<number, Scope>();
  private isOverfull = false;

  constructor(
    /** The ids in all notes so far. */
    private readonly notedIds: () => ReadonlySet<number>,
    private readonly max = MAX_SCOPES,
  ) {}

  add(scope: Scope): void {
    if (scope === NO_SCOPE) return;
    if (this.scopes.size >= this.max && !this.isOverfull) this.forgetUnnoted();
    if (this.scopes.size < this.max) {
      this.scopes.set(scope.id, scope);
      return;
    }
    this.isOverfull = true;
    count(Counter.labelsOverCap);
  }

  /** `lost` for an id that was forgotten, `overflow` when there may have been no room for it. */
  find(id: number): Scope | 'lost' | 'overflow' {
    if (id === NO_SCOPE.id) return NO_SCOPE;
    return this.scopes.get(id) ?? (this.isOverfull ? 'overflow' : 'lost');
  }

  private forgetUnnoted(): void {
    const noted = this.notedIds();
    const kept = new Map<number, Scope>();
    for (const [id, scope] of this.scopes) if (noted.has(id)) kept.set(id, scope);
    // Those around the call under way come back to the cell without a call.
    for (let at: Scope | undefined = register.current; at?.label !== undefined; at = at.outer) kept.set(at.id, at);
    this.scopes = kept;
    // Others of the epoch may be in use: they must come again.
    register.epoch++;
  }
}
