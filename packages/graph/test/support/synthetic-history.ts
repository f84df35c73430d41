// A history of commits made by a seed: long lines, branches that live for a while, merges, keys that are hashes. The same everywhere.
import { createHash } from 'node:crypto';
import { CompactGraphBuilder } from '../../src/builder/graph-builder.js';
import { BufferSink } from '../../src/container/container-writer.js';

/** Commits by number; parents have lower numbers. */
export interface History {
  readonly keys: readonly Buffer[];
  readonly parents: readonly (readonly number[])[];
  /** Commits that nobody refers to. */
  readonly heads: readonly number[];
}

const random = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

export const makeHistory = (count: number, seed = 1): History => {
  const next = random(seed);
  const tips: number[] = [0];
  const parents: number[][] = [[]];
  for (let commit = 1; commit < count; commit++) {
    const branch = Math.floor(next() * tips.length);
    const roll = next();
    if (roll < 0.1 && tips.length < 20) {
      parents.push([tips[branch]]);
      tips.push(commit);
    } else if (roll < 0.2 && tips.length > 1) {
      const other = (branch + 1) % tips.length;
      parents.push([tips[branch], tips[other]]);
      tips[branch] = commit;
      tips.splice(other, 1);
    } else {
      parents.push([tips[branch]]);
      tips[branch] = commit;
    }
  }
  const keys = Array.from({ length: count }, (_, i) => createHash('sha1').update(`${seed} ${i}`).digest());
  return { keys, parents, heads: tips };
};

/** The history as a graph file. */
export const buildHistory = async ({ keys, parents }: History): Promise<Buffer> => {
  const sink = new BufferSink();
  const builder = new CompactGraphBuilder(sink, { graphs: [{ referenceLists: 1, order: 'child-first' }] });
  keys.forEach((key, i) => {
    builder.add(0, key, Buffer.from(`commit ${i}`), [parents[i].map((parent) => keys[parent])]);
  });
  await builder.finish();
  return sink.toBuffer();
};
