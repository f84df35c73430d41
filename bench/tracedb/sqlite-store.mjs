// The SQLite database of the tile: the index rows of its Perf store, in key order. Needs Node 24.
import { DatabaseSync } from 'node:sqlite';
import { openTable, PERF_SCHEMA, PerfStore } from '../../dist/bench/tracedb.js';
import { TILE } from './shape.mjs';
import { buildOnce, storePath } from './store.mjs';

export { sqlitePath } from './store.mjs';

/** The number of each `key=value`. */
export const paramNumbers = (db) =>
  new Map(
    db
      .prepare('SELECT name, param FROM params')
      .all()
      .map(({ name, param }) => [name, param]),
  );

/** Build the database at `path` from the Perf store of so many traces. */
export const buildPairs = (path, traces) =>
  buildOnce(path, async (fresh) => {
    const table = await openTable(storePath(traces), PERF_SCHEMA);
    const perf = await PerfStore.open(table);
    const ops = await perf.orderedParamSet(TILE);
    const db = new DatabaseSync(fresh);
    db.exec(`PRAGMA page_size=8192; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;
      CREATE TABLE params (name TEXT PRIMARY KEY, param INTEGER NOT NULL) WITHOUT ROWID;
      CREATE TABLE pairs (param INTEGER NOT NULL, trace TEXT NOT NULL, PRIMARY KEY (param, trace)) WITHOUT ROWID;`);
    const insertParam = db.prepare('INSERT INTO params VALUES (?, ?)');
    const insertPair = db.prepare('INSERT INTO pairs VALUES (?, ?)');
    let param = 0;
    for (const key of ops.keys) {
      for (const value of ops.values(key)) {
        insertParam.run(`${key}=${value}`, ++param);
        for await (const ids of perf.queryIds(TILE, `${key}=${value}`)) {
          for (const id of ids) insertPair.run(param, id);
        }
      }
    }
    db.exec('COMMIT; ANALYZE;');
    db.close();
    await table.close();
  });
