// Builds a graph larger than the memory it may use, and prints what the process took beyond what it had before. Nodes are made as
// they are added, so that nothing but the builder holds them.
import { createHash } from 'node:crypto';
import { CompactGraphBuilder } from '../../../../src/graph/builder/graph-builder.js';

const [target = '', memoryMiB = '64', count = '0', valueBytes = '0'] = process.argv.slice(2);

const keyOf = (i: number): Buffer => createHash('sha1').update(String(i)).digest();

const build = (path: string, memoryBytes: number, nodes: number): unknown => {
  const builder = new CompactGraphBuilder(path, { memoryBytes, graphs: [{ referenceLists: 1, order: 'child-first' }] });
  const value = Buffer.alloc(Number(valueBytes));
  for (let i = 0; i < nodes; i++) {
    // Random halves: what nothing can compress would make the test slow, and zeros make it easy.
    for (let at = 0; at + 4 <= value.length; at += 16) value.writeUInt32LE((i * 2654435761 + at) >>> 0, at);
    builder.add(0, keyOf(i), value, [i === 0 ? [] : [keyOf(i - 1), keyOf((i * 7) % i)]]);
  }
  return builder.finishSync();
};

// What the code itself takes, compiled and in use.
build(`${target}.first`, 2 * 1024 * 1024, 2000);
const before = process.memoryUsage.rss();
const stats = build(target, Number(memoryMiB) * 1024 * 1024, Number(count));
const peak = process.resourceUsage().maxRSS * 1024;
console.log(JSON.stringify({ before, growth: peak - before, stats }));
