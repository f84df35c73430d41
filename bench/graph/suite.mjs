// The subjects of the graph suite. What one lacks here (git, Node 24, breezy) leaves that subject out, with a line that says so.
import { join } from 'node:path';
import { nodeOf } from '../../scripts/lib/nodes.mjs';
import { root, runQuietly } from '../../scripts/lib/run.mjs';
import { bundleFor } from '../lib/bundle.mjs';
import { moduleAt, versionOf } from '../lib/subjects.mjs';
import { findBreezy } from './find-breezy.mjs';
import { hasGit } from './git-repository.mjs';
import { prepareHistory } from './history.mjs';
import { environment } from './settings.mjs';

const at = moduleAt(import.meta.url);
const here = (name) => join(root, 'bench/graph', name);
const SQLITE_NODE = 24;

const leftOut = (subject, why) => console.error(`graph: ${subject} is left out: ${why}`);

const sqliteNode = () => {
  try {
    return nodeOf(SQLITE_NODE);
  } catch (error) {
    leftOut('sqlite', `it needs Node ${SQLITE_NODE}: ${error.message}`);
    return undefined;
  }
};

/** Each subject builds its files in a process like its own. */
const prepare = (node, env, log, name) => {
  log(`building the files of ${name}`);
  runQuietly(node, ['--no-warnings', here('prepare.mjs'), name], { env: { ...process.env, ...env } });
};

export async function subjectsFor(node, { quick, log }) {
  const size = quick ? 'quick' : 'full';
  await bundleFor(here('internals.ts'), 'graph.js', { packages: 'external' });
  const env = environment({ size, history: prepareHistory(size) });
  const specs = [];
  const add = (name, modules, { node: own = node, more = {} } = {}) => {
    prepare(own, { ...env, ...more }, log, name);
    for (const module of modules) {
      specs.push({ module: at(module), env: { ...env, ...more }, node: own, flags: ['--no-warnings'] });
    }
  };
  add('spanline', ['spanline.mjs', 'spanline-archive.mjs', 'spanline-http.mjs']);
  if (hasGit()) add('git', ['git.mjs']);
  else leftOut('git', 'there is no git command');
  add('lmdb', ['lmdb.mjs']);
  const withSqlite = sqliteNode();
  if (withSqlite !== undefined) add('sqlite', ['sqlite.mjs'], { node: withSqlite });
  const python = findBreezy();
  if (python !== undefined) add('bzr', ['bzr.mjs'], { more: { SPANLINE_BENCH_PYTHON: python } });
  else leftOut('bzr', 'no Python here has breezy (Debian: apt-get install brz)');
  return { version: versionOf(node), specs };
}
