// The closure over references by repeated single steps: for indices that are not one file. Terminates on cycles, since nothing is
// asked twice.
import type { TransportReadOptions } from '../transport/transport.js';
import type { FoundAncestry, ReadableIndex } from './graph-index-types.js';
import { type TupleKey, TupleMap, TupleSet } from './tuple-key.js';

/** `index.findAncestors` until nothing is left to ask. */
export const findAncestryByStep = async (
  index: Pick<ReadableIndex, 'findAncestors'>,
  keys: Iterable<TupleKey>,
  list: number,
  options?: TransportReadOptions,
): Promise<FoundAncestry> => {
  const parentMap = new TupleMap<readonly TupleKey[]>();
  const missing = new TupleSet();
  for (let next = new TupleSet(keys); next.size > 0; )
    next = await index.findAncestors(next, list, parentMap, missing, options);
  return { parentMap, missing };
};
