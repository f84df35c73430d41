// One state of the store, for one read: everything it looks at must be of the same commit, however long it takes and however often
// the event loop turns. Until it is ended, pages of that state cannot be used again.
import type { Transaction } from 'lmdb';
import { CellWalk } from './cell-walk.js';
import type { LmdbEnv } from './lmdb-env.js';
import type { RowRange } from './row-ranges.js';

/** A state of the store that is being read. */
export class Snapshot {
  /** The engine's name for it; undefined before `hold`: the state of this turn of the event loop. */
  transaction: Transaction | undefined;
  #walk: CellWalk | undefined;
  #isEnded = false;

  constructor(readonly env: LmdbEnv) {
    // Else the state of earlier in this turn would serve, without what others wrote since.
    env.root.resetReadTxn();
  }

  /** Walk a range of rows; ends the walk before. */
  walkOf(range: RowRange, withValues: boolean): CellWalk {
    this.#walk?.end();
    this.#walk = new CellWalk(this, range, withValues);
    return this.#walk;
  }

  /** Keep it over a turn of the event loop; must be called before every one. Reads that need none are spared the cost. */
  hold(): void {
    this.transaction ??= this.env.root.useReadTransaction();
  }

  /** Let it go, at once; safe to call again. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#walk?.end();
    this.transaction?.done();
  }
}
