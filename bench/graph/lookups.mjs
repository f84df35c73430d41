// The keys that are looked up, the same for every subject, and how many parents they have in all.
import { nodesOf } from './nodes.mjs';
import { sample } from './random.mjs';

/** The key sets. */
export const SETS = ['hash', 'names', 'spans'];
const LOOKUPS = 5000;

const made = new Map();

/** Keys in random order, and the sum of their parents. */
export const lookupKeys = (set) => {
  if (!made.has(set)) {
    const { keys, parents } = nodesOf(set);
    const numbers = sample([...keys.keys()], LOOKUPS, 4);
    made.set(set, {
      keys: numbers.map((number) => keys[number]),
      parents: numbers.reduce((sum, number) => sum + parents[number].length, 0),
    });
  }
  return made.get(set);
};
