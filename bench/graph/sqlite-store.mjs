// SQLite, as Node 24 has it: one table of edges by key, which also serves look-ups, and for walks that need no names the same with
// numbers. Rows are put in the order of their keys; nothing is synced.
import { DatabaseSync } from 'node:sqlite';
import { buildOnce, filePath } from './files.mjs';
import { SETS } from './lookups.mjs';
import { nodesOf, sortedNumbers } from './nodes.mjs';

export const storePath = (set) => filePath('sqlite', set, 'sqlite');
export const numberedPath = () => filePath('sqlite-numbered', 'hash', 'sqlite');

/** Names are texts, hashes and spans bytes. */
export const keysOf = (set) => {
  const { keys } = nodesOf(set);
  return set === 'names' ? keys.map(String) : keys;
};

/** What is put, made before the clock starts. */
export const rowsOf = (set) => {
  const keys = keysOf(set);
  return { bytes: nodesOf(set).keys, keys, parents: nodesOf(set).parents.map((list) => list.map((i) => keys[i])) };
};

// A node without parents has a row of its own.
const TABLE = (type) =>
  `CREATE TABLE edges (child ${type} NOT NULL, place INTEGER NOT NULL, parent ${type}, PRIMARY KEY (child, place)) WITHOUT ROWID`;

const openEmpty = (path, type) => {
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA page_size=4096; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN; ${TABLE(type)};`);
  return { db, insert: db.prepare('INSERT INTO edges VALUES (?, ?, ?)') };
};

const put = (insert, key, parents) => {
  if (parents.length === 0) insert.run(key, 0, null);
  else for (let place = 0; place < parents.length; place++) insert.run(key, place, parents[place]);
};

/** Write rows in one transaction, sorting included. */
export const writeStore = (path, { bytes, keys, parents }) => {
  const { db, insert } = openEmpty(path, typeof keys[0] === 'string' ? 'TEXT' : 'BLOB');
  for (const i of sortedNumbers(bytes)) put(insert, keys[i], parents[i]);
  db.exec('COMMIT');
  db.close();
};

const writeNumbered = (path) => {
  const { db, insert } = openEmpty(path, 'INTEGER');
  for (const [number, parents] of nodesOf('hash').parents.entries()) put(insert, number, parents);
  db.exec('COMMIT');
  db.close();
};

export const buildStores = async () => {
  for (const set of SETS) await buildOnce(storePath(set), (path) => writeStore(path, rowsOf(set)));
  await buildOnce(numberedPath(), writeNumbered);
};
