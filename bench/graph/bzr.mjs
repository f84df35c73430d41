// Subject: bzr's graph index, a B+tree, as Debian's breezy has it. Times are those that Python measures around each task.
import { rmSync } from 'node:fs';
import { indexBytes, startBreezy } from './breezy.mjs';
import { scratchPath } from './files.mjs';
import { SETS } from './lookups.mjs';
import { describe, nodesOf } from './nodes.mjs';
import { check, countCase, runCase } from './support.mjs';

/** It takes seconds. */
const MAX_ROUNDS = 3;

const started = new Map();
const breezy = (set) => {
  if (!started.has(set)) started.set(set, startBreezy(set));
  return started.get(set);
};

const fileCase = (set) =>
  countCase({
    name: `file-${set}`,
    n: set === 'spans' ? 'spans' : 'commits',
    unit: 'bytes',
    note: () => `${describe(set)}; keys in hexadecimal where they are bytes`,
    body: () => indexBytes(set) / nodesOf(set).keys.length,
  });

const taskCase = ({ name, n, unit, note, task, finish = () => {} }) =>
  runCase({
    name,
    n,
    unit,
    note,
    maxRounds: MAX_ROUNDS,
    prepare: () => breezy(n),
    body: async () => {
      const answer = await (await breezy(n)).ask(task());
      finish(answer);
      return answer;
    },
  });

const walkCase = (name, n) =>
  taskCase({
    name,
    n,
    unit: 'ms',
    note: 'find_ancestry; references are keys, so that names come with it',
    task: () => ({ task: 'walk' }),
    finish: ({ done }) => check(name, done, nodesOf(n).keys.length),
  });

const lookupCase = (name, n, cached, note) =>
  taskCase({ name, n, unit: 'us', note, task: () => ({ task: 'look_up', cached }) });

const buildCase = (n) => {
  const path = scratchPath(`${n}.bti`);
  return taskCase({
    name: 'build',
    n,
    unit: 'nodes/s',
    note: 'BTreeBuilder; synced to disk',
    task: () => ({ task: 'build', path }),
    finish: () => rmSync(path),
  });
};

const walked = async () => (await breezy('hash')).ask({ task: 'walk' });

export const subject = 'bzr';
export const cases = [
  ...SETS.map(fileCase),
  walkCase('walk-ordinals', 'hash'),
  walkCase('walk-names', 'hash'),
  walkCase('walk-names', 'names'),
  countCase({
    name: 'walk-read-share',
    n: 'opening',
    unit: '%',
    note: 'bytes read again count again',
    body: async () => (100 * (await walked()).bytes) / indexBytes('hash'),
  }),
  countCase({
    name: 'walk-requests',
    n: 'opening',
    unit: 'requests',
    note: 'calls of readv',
    body: async () => (await walked()).requests,
  }),
  ...SETS.map((set) =>
    lookupCase(
      'lookup-cached',
      set,
      true,
      'iter_entries([key]), keys in random order, all asked before; it keeps 100 pages',
    ),
  ),
  ...SETS.map((set) => lookupCase('lookup-uncached', set, false, 'clear_cache(), iter_entries([key])')),
  ...SETS.map((set) =>
    countCase({
      name: 'lookup-cold-reads',
      n: set,
      unit: 'reads',
      note: 'calls of readv, from opening to the parents of a key',
      body: async () => (await (await breezy(set)).ask({ task: 'cold_reads' })).counts,
    }),
  ),
  ...SETS.map(buildCase),
];
