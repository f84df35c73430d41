// Subject: the `lmdb` package, see lmdb-store.mjs. Its map is read through the page cache, so that it has no look-up that decodes a block.
import { rmSync, statSync } from 'node:fs';
import { scratchPath } from './files.mjs';
import { eachParent, entriesOf, numberedPath, openStore, storePath, writeStore } from './lmdb-store.mjs';
import { lookupKeys, SETS } from './lookups.mjs';
import { describe, nodesOf } from './nodes.mjs';
import { check, countCase, runCase } from './support.mjs';

const fileCase = (set) =>
  countCase({
    name: `file-${set}`,
    n: set === 'spans' ? 'spans' : 'commits',
    unit: 'bytes',
    note: () => `${describe(set)}; written in the order of keys`,
    body: () => statSync(storePath(set)).size / nodesOf(set).keys.length,
  });

const walkCase = (name, n, path, options, note, walk) =>
  runCase({
    name,
    n,
    unit: 'ms',
    note,
    body: async () => {
      const store = openStore(path, { readOnly: true, ...options });
      check(name, walk(store), nodesOf(n).keys.length);
      await store.close();
    },
  });

const walkNumbers = (store) => {
  const { keys, heads } = nodesOf('hash');
  const seen = new Uint8Array(keys.length);
  const stack = [...heads];
  for (const head of heads) seen[head] = 1;
  let found = 0;
  while (stack.length > 0) {
    const value = store.getBinaryFast(stack.pop());
    found++;
    for (let at = 0; at < value.length; at += 4) {
      const parent = value.readUInt32LE(at);
      if (seen[parent] === 1) continue;
      seen[parent] = 1;
      stack.push(parent);
    }
  }
  return found;
};

const walkNames = (set) => (store) => {
  const { keys, heads } = nodesOf(set);
  const width = keys[0].length;
  const seen = new Set(heads.map((head) => keys[head].latin1Slice()));
  const stack = [...seen];
  const key = Buffer.alloc(256);
  while (stack.length > 0) {
    const length = key.latin1Write(stack.pop());
    const value = store.getBinaryFast(key.subarray(0, length));
    eachParent(set, value, width, (start, end) => {
      const parent = value.latin1Slice(start, end);
      if (seen.has(parent)) return;
      seen.add(parent);
      stack.push(parent);
    });
  }
  return seen.size;
};

const lookupCase = (set) => {
  let store;
  let asked;
  let width;
  return runCase({
    name: 'lookup-cached',
    n: set,
    unit: 'us',
    note: 'the bytes of the parents’ keys, keys in random order',
    prepare: () => {
      store ??= openStore(storePath(set), { readOnly: true });
      asked ??= lookupKeys(set);
      width ??= nodesOf(set).keys[0].length;
    },
    body: () => {
      let found = 0;
      const count = () => {
        found++;
      };
      for (const key of asked.keys) eachParent(set, store.getBinaryFast(key), width, count);
      check('lookup', found, asked.parents);
      return asked.keys.length;
    },
  });
};

const buildCase = (set) => {
  const path = scratchPath(`${set}.mdb`);
  let entries;
  return runCase({
    name: 'build',
    n: set,
    unit: 'nodes/s',
    note: 'sorted by key, then appended in one transaction; synced to disk',
    prepare: () => {
      entries ??= entriesOf(set);
    },
    body: async () => {
      await writeStore(path, entries);
      return entries.keys.length;
    },
    clean: () => {
      for (const end of ['', '-lock']) rmSync(`${path}${end}`, { force: true });
    },
  });
};

export const subject = 'lmdb';
export const cases = [
  ...SETS.map(fileCase),
  walkCase(
    'walk-ordinals',
    'hash',
    numberedPath(),
    { keyEncoding: 'uint32' },
    'parents’ numbers by number',
    walkNumbers,
  ),
  ...['hash', 'names'].map((set) =>
    walkCase('walk-names', set, storePath(set), {}, 'parents’ keys by key', walkNames(set)),
  ),
  ...SETS.map(lookupCase),
  ...SETS.map(buildCase),
];
