// Subject: the Perf store on LMDB.
import { openTable, PERF_SCHEMA, PerfStore } from '../../dist/bench/tracedb.js';
import { ingestCases } from './ingest.mjs';
import { memoryCases } from './memory.mjs';
import { textOf } from './queries.mjs';
import { TILE } from './shape.mjs';
import { storePath } from './store.mjs';
import { firstIdCase, queries, queryCase, TRACES } from './support.mjs';

let opened;
const tile = async () => {
  opened ??= openTable(storePath(TRACES), PERF_SCHEMA).then((table) => PerfStore.open(table));
  return opened;
};

const run = async (query) => {
  let found = 0;
  for await (const ids of (await tile()).queryIds(TILE, query)) found += ids.length;
  return found;
};

const first = async (query) => {
  for await (const [id] of (await tile()).queryIds(TILE, query)) return id;
};

const open = async (path) => {
  const table = await openTable(path, PERF_SCHEMA);
  const perf = await PerfStore.open(table);
  return { write: (commits) => perf.write(commits), close: () => table.close() };
};

export const subject = 'spanline';
export const cases = [
  ...ingestCases(open),
  ...queries.map(([name, conditions]) => queryCase(name, textOf(conditions), () => run(textOf(conditions)))),
  ...queries.map(([name, conditions]) => firstIdCase(name, () => first(textOf(conditions)))),
  ...memoryCases(),
];
