// Subject: SQLite, as Node 24 has it, with one table pairs(param, trace), primary key (param, trace), WITHOUT ROWID: the index rows of
// the tile. Params are numbers, the cheapest for it; traces are the encoded ids that are asked for. Every query is tried in several
// forms, and the fastest is measured.
import { DatabaseSync } from 'node:sqlite';
import { paramNumbers, sqlitePath } from './sqlite-store.mjs';
import { firstIdCase, queries, queryCase, TRACES } from './support.mjs';

let opened;
const tile = () => {
  if (opened === undefined) {
    const db = new DatabaseSync(sqlitePath(TRACES), { readOnly: true });
    // The whole file is mapped and may be cached, as LMDB's is.
    db.exec('PRAGMA mmap_size=4000000000; PRAGMA cache_size=-100000');
    opened = { db, numbers: paramNumbers(db) };
  }
  return opened;
};

const rowsOf = (list) => `SELECT trace FROM pairs WHERE param IN (${list})`;
const exists = (list, not) =>
  `${not ? 'NOT ' : ''}EXISTS (SELECT 1 FROM pairs b WHERE b.param IN (${list}) AND b.trace = a.trace)`;

/** Ways to ask for the same traces; conditions come with the rarest first. */
const FORMS = {
  INTERSECT: ([{ list }, ...rest]) =>
    rest.reduce((sql, { list, not }) => `${sql} ${not ? 'EXCEPT' : 'INTERSECT'} ${rowsOf(list)}`, rowsOf(list)),
  EXISTS: ([{ list }, ...rest]) =>
    [`SELECT a.trace FROM pairs a WHERE a.param IN (${list})`, ...rest.map(({ list, not }) => exists(list, not))].join(
      ' AND ',
    ),
  // A trace has one value of a key, so joins give no trace twice.
  joins: ([{ list }, ...rest]) => {
    const wanted = rest.filter(({ not }) => !not);
    const joins = wanted.map(
      ({ list }, i) => `CROSS JOIN pairs b${i} ON b${i}.param IN (${list}) AND b${i}.trace = a.trace`,
    );
    const refused = rest.filter(({ not }) => not).map(({ list }) => `AND ${exists(list, true)}`);
    return `SELECT a.trace FROM pairs a ${joins.join(' ')} WHERE a.param IN (${list}) ${refused.join(' ')}`;
  },
};

const TRIALS = 2;

const all = (statement) => statement.all().length;
const firstRow = (statement) => {
  for (const row of statement.iterate()) return row;
};

/** The fastest form of a query: its name and its statement. */
const fastest = (conditions, run) => {
  const { db, numbers } = tile();
  const numbered = conditions.map(({ key, values, not }) => ({
    list: values.map((value) => numbers.get(`${key}=${value}`)).join(', '),
    not,
  }));
  const names = conditions.length === 1 ? ['INTERSECT'] : Object.keys(FORMS);
  let best;
  for (const form of names) {
    const statement = db.prepare(FORMS[form](numbered));
    statement.setReturnArrays(true);
    for (let trial = 0; trial < TRIALS; trial++) {
      const since = performance.now();
      run(statement);
      const ms = performance.now() - since;
      if (best === undefined || ms < best.ms) best = { form, statement, ms };
    }
  }
  return best;
};

/** A case that runs the fastest form of a query by `run`; the form goes to its note, with `how` it is run. */
const lazily = (makeCase, conditions, run, how) => {
  let best;
  const test = makeCase(() => {
    if (best === undefined) {
      best = fastest(conditions, run);
      const form =
        conditions.length === 1 ? 'one SELECT' : `${best.form}, the fastest of ${Object.keys(FORMS).join(', ')}`;
      test.note = `${form}; ${how}; Node ${process.versions.node}`;
    }
    return run(best.statement);
  });
  return test;
};

export const subject = 'sqlite';
export const cases = [
  ...queries.map(([name, conditions]) =>
    lazily((run) => queryCase(name, '', run), conditions, all, 'all rows at once'),
  ),
  ...queries.map(([name, conditions]) =>
    lazily((run) => firstIdCase(name, run), conditions, firstRow, 'the first row of iterate()'),
  ),
];
