// LMDB, as the `lmdb` package has it, in the two forms that suit it best: parents' keys by key, and for walks that need no names parents'
// numbers by number. Entries are put in the order of their keys, which LMDB writes fastest and smallest.
import { open } from 'lmdb';
import { buildOnce, filePath } from './files.mjs';
import { SETS } from './lookups.mjs';
import { nodesOf, sortedNumbers } from './nodes.mjs';

export const storePath = (set) => filePath('lmdb', set, 'mdb');
export const numberedPath = () => filePath('lmdb-numbered', 'hash', 'mdb');

/** Keys of one set have no newline beside names, so that those of names need no lengths. */
const NAME_END = 10;

/** How the parents' keys stand in a value. */
export const encodeParents = (set, keys) =>
  set === 'names' ? Buffer.concat(keys.flatMap((key) => [key, Buffer.of(NAME_END)])) : Buffer.concat(keys);

/** Calls `take` with where each key of a value begins and ends. */
export const eachParent = (set, value, width, take) => {
  if (set !== 'names') {
    for (let at = 0; at < value.length; at += width) take(at, at + width);
    return;
  }
  for (let at = 0; at < value.length; ) {
    const end = value.indexOf(NAME_END, at);
    take(at, end);
    at = end + 1;
  }
};

export const openStore = (path, options = {}) =>
  open({ path, noSubdir: true, encoding: 'binary', keyEncoding: 'binary', ...options });

/** What is put for a key set, made before the clock starts. */
export const entriesOf = (set) => {
  const { keys, parents } = nodesOf(set);
  return {
    keys,
    values: parents.map((list) =>
      encodeParents(
        set,
        list.map((parent) => keys[parent]),
      ),
    ),
  };
};

/** Put the entries in one transaction, sorting included. */
export const writeStore = async (path, { keys, values }) => {
  const store = openStore(path);
  store.transactionSync(() => {
    for (const i of sortedNumbers(keys)) store.putSync(keys[i], values[i], { append: true });
  });
  await store.close();
};

const writeNumbered = async (path) => {
  const store = openStore(path, { keyEncoding: 'uint32' });
  const { parents } = nodesOf('hash');
  store.transactionSync(() => {
    for (const [number, list] of parents.entries()) {
      store.putSync(number, Buffer.from(Uint32Array.from(list).buffer), { append: true });
    }
  });
  await store.close();
};

export const buildStores = async () => {
  for (const set of SETS) await buildOnce(storePath(set), (path) => writeStore(path, entriesOf(set)));
  await buildOnce(numberedPath(), writeNumbered);
};
