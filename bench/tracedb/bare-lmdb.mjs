// Subject: loops over the `lmdb` package that write and read the same entries as spanline, with the settings of its store, and do
// nothing else: keys and bytes are made before the clock starts, and ids are not cut out of the keys that are read.
import { rmSync } from 'node:fs';
import {
  cellKey,
  LmdbTable,
  OrderedParamSet,
  openLmdbEnv,
  PERF_SCHEMA,
  PerfStore,
  tileLayout,
} from '../../dist/bench/tracedb.js';
import { ingestCases } from './ingest.mjs';
import { TILE } from './shape.mjs';
import { scratchPath, storePath } from './store.mjs';
import { firstIdCase, queries, queryCase, TRACES } from './support.mjs';

/** A cell's entry: its time in milliseconds in six bytes, then its value. */
const encodeCell = (value, timestampMs) => {
  const bytes = Buffer.allocUnsafe(6 + value.length);
  bytes.writeUIntBE(timestampMs, 0, 6);
  bytes.set(value, 6);
  return bytes;
};

const entriesOf = (key, mutations) =>
  mutations.map(({ family, qualifier, value, timestampMs }) => ({
    key: cellKey(key, family, qualifier),
    value: encodeCell(value, timestampMs),
  }));

/** A table that tells `record` the entries of each of its write transactions. */
const recording = (table, record) =>
  new Proxy(table, {
    get(target, name) {
      if (name === 'mutateRows') {
        return (rows, options) => {
          record(rows.flatMap(({ key, mutations }) => entriesOf(key, mutations)));
          return target.mutateRows(rows, options);
        };
      }
      if (name === 'checkAndMutateRow') {
        return (key, predicate, change, options) => {
          record(entriesOf(key, [...(change.then ?? []), ...(change.otherwise ?? [])]));
          return target.checkAndMutateRow(key, predicate, change, options);
        };
      }
      const value = target[name];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

/** The transactions spanline makes of some writes, in order: a list for each. */
const transactionsOf = async (writes) => {
  const path = scratchPath('recorded');
  rmSync(path, { recursive: true, force: true });
  const table = await LmdbTable.open(path, PERF_SCHEMA);
  let transactions = [];
  const perf = await PerfStore.open(recording(table, (entries) => transactions.push(entries)));
  const lists = [];
  for (const commits of writes) {
    transactions = [];
    await perf.write(commits);
    lists.push(transactions);
  }
  await table.close();
  rmSync(path, { recursive: true, force: true });
  return lists;
};

const recorded = new Map();
const open = async (path, writes) => {
  const [first] = writes;
  if (!recorded.has(first)) {
    const lists = await transactionsOf(writes);
    for (const [i, commits] of writes.entries()) recorded.set(commits, lists[i]);
  }
  const { root, cells } = await openLmdbEnv(path, PERF_SCHEMA);
  return {
    write: async (commits) => {
      for (const entries of recorded.get(commits)) {
        await root.transaction(() => {
          for (const { key, value } of entries) cells.putSync(key, value);
        });
      }
    },
    close: () => root.close(),
  };
};

let opened;
const tile = async () => {
  opened ??= (async () => {
    const ops = OrderedParamSet.parse(await readOps(storePath(TRACES)));
    const { cells } = await openLmdbEnv(storePath(TRACES), PERF_SCHEMA);
    return { cells, ops, layout: tileLayout(TILE, 8) };
  })();
  return opened;
};

const readOps = async (path) => {
  const table = await LmdbTable.open(path, PERF_SCHEMA);
  try {
    for await (const rows of table.readRows({ prefix: '@' })) {
      for (const { cells } of rows) for (const { value } of cells) if (value.length > 100) return Buffer.from(value);
    }
  } finally {
    await table.close();
  }
  throw new Error('the tile has no param set');
};

/** The keys of the index rows of one value. */
const rowsOf = ({ cells, ops, layout }, key, value) => {
  const start = layout.indexPrefix(ops.keyIndex(key), ops.valueIndex(key, value));
  // Behind the colon that ends the prefix comes the semicolon.
  return { rows: cells.getKeys({ start, end: `${start.slice(0, -1)};` }), idStart: start.length };
};

const run = async (conditions) => {
  const store = await tile();
  if (conditions.length === 1 && conditions[0].values.length === 1) {
    let found = 0;
    const [{ key, values }] = conditions;
    for (const _ of rowsOf(store, key, values[0]).rows) found++;
    return found;
  }
  let met;
  for (const { key, values, not } of conditions) {
    const these = new Set();
    for (const value of values) {
      const { rows, idStart } = rowsOf(store, key, value);
      for (const row of rows) {
        const id = row.slice(idStart);
        if (not) met.delete(id);
        else if (met === undefined || met.has(id)) these.add(id);
      }
    }
    if (!not) met = these;
  }
  return met.size;
};

const first = async ([{ key, values }]) => {
  for (const row of rowsOf(await tile(), key, values[0]).rows) return row;
};

const noteOf = (conditions) =>
  conditions.length === 1
    ? 'one range read, keys counted'
    : 'a range read of every value; ids kept that are in the Set of the condition before, the rarest first';

export const subject = 'bare-lmdb';
export const cases = [
  ...ingestCases(open),
  ...queries.map(([name, conditions]) => queryCase(name, noteOf(conditions), () => run(conditions))),
  // Of more conditions it knows the first id when it knows all.
  ...queries
    .filter(([, conditions]) => conditions.length === 1)
    .map(([name, conditions]) => firstIdCase(name, () => first(conditions))),
];
