// Subject: spanline's compact graph files.
import { rmSync, statSync } from 'node:fs';
import { CompactGraph } from '../../dist/bench/graph.js';
import { scratchPath } from './files.mjs';
import { lookupKeys, SETS } from './lookups.mjs';
import { describe, nodesOf } from './nodes.mjs';
import { buildGraph, graphPath, referencesOf } from './spanline-files.mjs';
import { check, countCase, runCase } from './support.mjs';

const COLD_LOOKUPS = 200;

const fileCase = (set) =>
  countCase({
    name: `file-${set}`,
    n: set === 'spans' ? 'spans' : 'commits',
    unit: 'bytes',
    note: () => `${describe(set)}; no values, keys of all nodes kept`,
    body: () => statSync(graphPath(set)).size / nodesOf(set).keys.length,
  });

/** The ordinals of the heads, found once: a walk by ordinals begins with them. */
const headsOf = (file, set) => {
  const { keys, heads } = nodesOf(set);
  return file.graph(0).ordinalsOfSync(heads.map((head) => keys[head]));
};

/** A case that opens the file anew every time, so that nothing is known of it but what the system has cached. */
const walkCase = (name, set, note, walk) => {
  let heads;
  return runCase({
    name,
    n: set,
    unit: 'ms',
    note,
    prepare: async () => {
      if (heads !== undefined) return;
      const file = CompactGraph.openSync(graphPath(set));
      heads = headsOf(file, set);
      await file.close();
    },
    body: async () => {
      const file = CompactGraph.openSync(graphPath(set));
      check(name, walk(file, heads), nodesOf(set).keys.length);
      await file.close();
    },
  });
};

const walkOrdinals = (file, heads) => file.graph(0).ancestrySync(heads).nodes.length;

/** Every node met, by name, as text: what a walk by keys has at the end. */
const walkNames = (file, heads) => {
  const graph = file.graph(0);
  const { nodes } = graph.ancestrySync(heads);
  const ranks = graph.ranksSync();
  const { bytes, offsets } = file.dictionary.allKeysSync();
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const names = [];
  for (const node of nodes) names.push(text.latin1Slice(offsets[ranks[node]], offsets[ranks[node] + 1]));
  return names.length;
};

/** What a walk reads, in percent of the file, and in how many requests. */
const readsOf = async (set, walk, isOpening) => {
  const path = graphPath(set);
  const warm = CompactGraph.openSync(path);
  const heads = headsOf(warm, set);
  await warm.close();
  const file = CompactGraph.openSync(path);
  const before = isOpening ? { bytes: 0, requests: 0 } : file.stats().transport;
  walk(file, heads);
  const after = file.stats().transport;
  await file.close();
  return {
    share: (100 * (after.bytes - before.bytes)) / statSync(path).size,
    requests: after.requests - before.requests,
  };
};

const readCases = (n, note, walk, isOpening) => [
  countCase({
    name: 'walk-read-share',
    n,
    unit: '%',
    note,
    body: async () => (await readsOf('hash', walk, isOpening)).share,
  }),
  countCase({
    name: 'walk-requests',
    n,
    unit: 'requests',
    note,
    body: async () => (await readsOf('hash', walk, isOpening)).requests,
  }),
];

/** The ordinals of a key's parents. */
const lookUp = (graph, key) => {
  const ordinal = graph.ordinalOfSync(key);
  return graph.nodesSync([ordinal], { references: true })[0].references[0].length;
};

const lookupCase = (name, set, note, cache) => {
  const open = {};
  return runCase({
    name,
    n: set,
    unit: 'us',
    note,
    prepare: () => {
      if (open.graph !== undefined) return;
      open.graph = CompactGraph.openSync(graphPath(set), { cache }).graph(0);
      open.asked = lookupKeys(set);
      for (const key of open.asked.keys) lookUp(open.graph, key);
    },
    body: () => {
      const { graph, asked } = open;
      let found = 0;
      for (const key of asked.keys) found += lookUp(graph, key);
      check(name, found, asked.parents);
      return asked.keys.length;
    },
  });
};

const coldCase = (set) =>
  countCase({
    name: 'lookup-cold-reads',
    n: set,
    unit: 'reads',
    note: 'from opening the file to the parents of a key; each sample another key',
    body: async () => {
      const reads = [];
      for (const key of lookupKeys(set).keys.slice(0, COLD_LOOKUPS)) {
        const file = CompactGraph.openSync(graphPath(set));
        lookUp(file.graph(0), key);
        reads.push(file.stats().transport.requests);
        await file.close();
      }
      return reads;
    },
  });

const buildCase = (set) => {
  const path = scratchPath(`${set}.graph`);
  let references;
  let stats;
  return runCase({
    name: 'build',
    n: set,
    unit: 'nodes/s',
    note: () =>
      `nodes in the order they were made; ${stats.spilledRuns} spills at the default memory cap; synced to disk`,
    prepare: () => {
      references ??= referencesOf(nodesOf(set));
    },
    body: async () => {
      stats = await buildGraph(path, nodesOf(set), references);
      return nodesOf(set).keys.length;
    },
    clean: () => rmSync(path),
  });
};

const PARENTS = 'the ordinals of a key’s parents, keys in random order';

export const subject = 'spanline';
export const cases = [
  ...SETS.map(fileCase),
  walkCase('walk-ordinals', 'hash', 'the file is opened anew for each walk', walkOrdinals),
  ...['hash', 'names'].map((set) =>
    walkCase('walk-names', set, 'the file is opened anew for each walk; a string for each node', walkNames),
  ),
  ...readCases('walk', 'what the walk reads', walkOrdinals, false),
  ...readCases('opening', 'what opening the file and the walk read', walkOrdinals, true),
  ...readCases('names', 'opening, the walk and all names: not more than the file has', walkNames, true),
  ...SETS.map((set) => lookupCase('lookup-cached', set, `${PARENTS}; all blocks decoded before`, undefined)),
  ...SETS.map((set) =>
    lookupCase(
      'lookup-uncached',
      set,
      `${PARENTS}; nothing kept: every block is read and decoded, those of the index too`,
      0,
    ),
  ),
  ...SETS.map(coldCase),
  ...SETS.map(buildCase),
];
