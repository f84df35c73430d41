// Which of several maintainers merges, so that two do not do the same work: a generation names one, and the others leave merging to it until it has committed
// nothing for a while. Two may still think that it is their turn: then the compare-and-swap of one of them fails, as ever.
import type { Catalogue } from './catalogue.js';
import type { CatalogueState } from './catalogue-state.js';
import type { Merger } from './generation.js';
import type { ObjectStore } from './object-store.js';

/** A turn ends so long after its owner's last commit: longer than a merge takes. */
const TURN_MS = 120_000;

/** A maintainer. */
export interface Turn {
  readonly store: ObjectStore;
  readonly catalogue: Catalogue;
  /** Tells it from all others. */
  readonly id: string;
  /** Whether it merges whoever else does: somebody has asked for it. */
  readonly insists: boolean;
  readonly signal?: AbortSignal | undefined;
}

const hasAnother = ({ store, id, insists }: Turn, { generation: { merger } }: CatalogueState): boolean => {
  if (insists || merger === undefined || merger.id === id) return false;
  const leftMs = merger.untilMs - store.clockMs();
  // A turn is never so long: the clock was wrong, and nobody may wait until it is right.
  return leftMs > 0 && leftMs < 2 * TURN_MS;
};

/** What a commit of this maintainer says of who merges; undefined while it is another's turn. */
export const turnOf = (turn: Turn, state: CatalogueState): Merger | undefined =>
  hasAnother(turn, state) ? undefined : { id: turn.id, untilMs: turn.store.clockMs() + TURN_MS };

/** Take the turn, unless another has it: whether this one merges now. */
export const takeTurn = async (turn: Turn, state: CatalogueState): Promise<boolean> => {
  const { store, catalogue, id, insists, signal } = turn;
  const isLate = ({ merger }: CatalogueState['generation']): boolean =>
    merger?.id !== id || merger.untilMs - store.clockMs() < TURN_MS / 2;
  if (hasAnother(turn, state)) return false;
  // The merge itself says it then.
  if (insists || !isLate(state.generation)) return true;
  const { generation } = await catalogue.update(
    (now) => {
      const merger = turnOf(turn, now);
      return merger === undefined ? undefined : { merger };
    },
    { signal },
  );
  return generation.merger?.id === id;
};
