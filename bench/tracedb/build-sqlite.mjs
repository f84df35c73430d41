// node build-sqlite.mjs TRACES: builds the SQLite database of the tile, on a Node that has node:sqlite.
import { buildPairs, sqlitePath } from './sqlite-store.mjs';

const traces = Number(process.argv[2]);
await buildPairs(sqlitePath(traces), traces);
