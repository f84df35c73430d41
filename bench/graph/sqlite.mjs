// Subject: node:sqlite of Node 24, see sqlite-store.mjs. A walk is one recursive query.
import { rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { scratchPath } from './files.mjs';
import { lookupKeys, SETS } from './lookups.mjs';
import { describe, nodesOf } from './nodes.mjs';
import { keysOf, numberedPath, rowsOf, storePath, writeStore } from './sqlite-store.mjs';
import { check, countCase, runCase } from './support.mjs';

/** The whole file mapped and cached, or hardly a page of it. */
const MEMORY = {
  all: 'PRAGMA mmap_size=4000000000; PRAGMA cache_size=-100000',
  none: 'PRAGMA mmap_size=0; PRAGMA cache_size=0',
};

const openStore = (path, memory = 'all') => {
  const db = new DatabaseSync(path, { readOnly: true });
  db.exec(MEMORY[memory]);
  return db;
};

const fileCase = (set) =>
  countCase({
    name: `file-${set}`,
    n: set === 'spans' ? 'spans' : 'commits',
    unit: 'bytes',
    note: () => `${describe(set)}; a row for each edge, WITHOUT ROWID, written in the order of keys`,
    body: () => statSync(storePath(set)).size / nodesOf(set).keys.length,
  });

const walkCase = (name, set, path, headsOf, what) => {
  let heads;
  return runCase({
    name,
    n: set,
    unit: 'ms',
    note: `a recursive query over ${what}; Node ${process.versions.node}`,
    prepare: () => {
      heads ??= headsOf();
    },
    body: () => {
      const db = openStore(path);
      db.exec('PRAGMA temp_store=MEMORY; CREATE TEMP TABLE heads (node)');
      const insert = db.prepare('INSERT INTO heads VALUES (?)');
      for (const head of heads) insert.run(head);
      const met = `WITH RECURSIVE met(node) AS (SELECT node FROM heads UNION
        SELECT parent FROM met JOIN edges ON child = node WHERE parent IS NOT NULL)`;
      if (name === 'walk-ordinals') {
        const { count } = db.prepare(`${met} SELECT count(*) AS count FROM met`).get();
        check(name, count, nodesOf(set).keys.length);
      } else {
        const statement = db.prepare(`${met} SELECT node FROM met`);
        const names = statement.all().map(({ node }) => (set === 'names' ? node : Buffer.from(node).latin1Slice()));
        check(name, names.length, nodesOf(set).keys.length);
      }
      db.close();
    },
  });
};

const lookupCase = (name, set, memory, note) => {
  let statement;
  let asked;
  return runCase({
    name,
    n: set,
    unit: 'us',
    note: `${note}; Node ${process.versions.node}`,
    prepare: () => {
      if (statement !== undefined) return;
      statement = openStore(storePath(set), memory).prepare('SELECT parent FROM edges WHERE child = ?');
      const { keys, parents } = lookupKeys(set);
      asked = { keys: set === 'names' ? keys.map(String) : keys, parents };
    },
    body: () => {
      let found = 0;
      for (const key of asked.keys) for (const { parent } of statement.all(key)) if (parent !== null) found++;
      check(name, found, asked.parents);
      return asked.keys.length;
    },
  });
};

const buildCase = (set) => {
  const path = scratchPath(`${set}.sqlite`);
  let rows;
  return runCase({
    name: 'build',
    n: set,
    unit: 'nodes/s',
    note: `sorted by key, then inserted in one transaction; neither journal nor sync; Node ${process.versions.node}`,
    prepare: () => {
      rows ??= rowsOf(set);
    },
    body: () => {
      writeStore(path, rows);
      return rows.keys.length;
    },
    clean: () => rmSync(path),
  });
};

const headKeys = (set) => () => {
  const keys = keysOf(set);
  return nodesOf(set).heads.map((head) => keys[head]);
};

const PARENTS = 'the parents’ keys, keys in random order';

export const subject = 'sqlite';
export const cases = [
  ...SETS.map(fileCase),
  walkCase('walk-ordinals', 'hash', numberedPath(), () => nodesOf('hash').heads, 'edges by number'),
  ...['hash', 'names'].map((set) => walkCase('walk-names', set, storePath(set), headKeys(set), 'edges by key')),
  ...SETS.map((set) => lookupCase('lookup-cached', set, 'all', `${PARENTS}; the file is mapped`)),
  ...SETS.map((set) => lookupCase('lookup-uncached', set, 'none', `${PARENTS}; hardly a page is kept`)),
  ...SETS.map(buildCase),
];
