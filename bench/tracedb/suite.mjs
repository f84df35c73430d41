// The subjects of the tracedb suite. What one lacks here (Node 24, the Bigtable emulator) leaves that subject out, with a line that says so.
import { join } from 'node:path';
import { findEmulator, HOW_TO_GET } from '../../scripts/lib/bigtable-emulator.mjs';
import { nodeOf } from '../../scripts/lib/nodes.mjs';
import { root, runQuietly } from '../../scripts/lib/run.mjs';
import { bundleFor } from '../lib/bundle.mjs';
import { moduleAt, versionOf } from '../lib/subjects.mjs';
import { countAll } from './queries.mjs';
import { buildStore } from './store.mjs';

const at = moduleAt(import.meta.url);
const here = (name) => join(root, 'bench/tracedb', name);
const SQLITE_NODE = 24;
const TRACES = { full: 1_000_000, quick: 100_000 };

/** Takes every look at the current span out of the engine. */
const WITHOUT_SPANS = {
  name: 'without-spans',
  setup: (build) =>
    build.onResolve({ filter: /\/node-span\.js$/ }, ({ importer }) =>
      importer === here('no-span.ts') ? undefined : { path: here('no-span.ts') },
    ),
};

const bundle = (name, plugins = []) => bundleFor(here('internals.ts'), name, { packages: 'external', plugins });

/** The `node` for SQLite, once the database is there; undefined, and a line, without one. */
const sqliteNode = (traces, log) => {
  try {
    const node = nodeOf(SQLITE_NODE);
    log(`building the SQLite database of ${traces} traces`);
    runQuietly(node, ['--no-warnings', here('build-sqlite.mjs'), String(traces)]);
    return node;
  } catch (error) {
    console.error(`tracedb: sqlite is left out, it needs Node ${SQLITE_NODE}: ${error.message}`);
    return undefined;
  }
};

export async function subjectsFor(node, { quick, log }) {
  const traces = quick ? TRACES.quick : TRACES.full;
  await bundle('tracedb.js');
  await bundle('tracedb-without-spans.js', [WITHOUT_SPANS]);
  await buildStore(traces, log);
  const env = {
    SPANLINE_BENCH_TRACES: String(traces),
    SPANLINE_BENCH_COUNTS: JSON.stringify(countAll(traces)),
  };
  const specs = ['spanline.mjs', 'bare-lmdb.mjs', 'overhead.mjs'].map((name) => ({ module: at(name), env }));
  const withSqlite = sqliteNode(traces, log);
  if (withSqlite !== undefined) {
    specs.push({ module: at('sqlite.mjs'), env, node: withSqlite, flags: ['--no-warnings'] });
  }
  const emulator = findEmulator();
  if (emulator === undefined) console.error(`tracedb: bigtable is left out. ${HOW_TO_GET}`);
  else {
    const withEmulator = { ...env, CBTEMULATOR: emulator };
    specs.push({ module: at('spanline-bigtable.mjs'), env: withEmulator });
    specs.push({ module: at('bare-bigtable.mjs'), env: withEmulator, flags: ['--no-warnings'] });
  }
  return { version: versionOf(node), specs };
}
