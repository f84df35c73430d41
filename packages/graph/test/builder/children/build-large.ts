// Builds a graph larger than the memory it may use, and prints what the process took beyond what it had before. Nodes are made as
// they are added, so that nothing but the builder holds them.
import { readFileSync } from 'node:fs';
import { CompactGraphBuilder } from '../../../src/builder/graph-builder.js';

const [target = '', memoryMiB = '64', count = '0', valueBytes = '0'] = process.argv.slice(2);

/** Twenty bytes that look random and belong to `i`; written to `into`, so that the program itself leaves no garbage. */
const writeKey = (into: Buffer, i: number): Buffer => {
  let state = i;
  for (let at = 0; at < 20; at += 4) {
    state = Math.imul(state ^ (state >>> 16) ^ 0x9e3779b9, 0x85ebca6b) + at;
    state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
    into.writeInt32LE(state ^ (state >>> 16), at);
  }
  into.writeInt32LE(i, 16);
  return into;
};

const build = (path: string, memoryBytes: number, nodes: number): unknown => {
  const builder = new CompactGraphBuilder(path, { memoryBytes, graphs: [{ referenceLists: 1, order: 'child-first' }] });
  const value = Buffer.alloc(Number(valueBytes));
  const [key, first, second] = [Buffer.alloc(20), Buffer.alloc(20), Buffer.alloc(20)];
  const none = [[]];
  const both = [[first, second]];
  for (let i = 0; i < nodes; i++) {
    // Random halves: what nothing can compress would make the test slow, and zeros make it easy.
    for (let at = 0; at + 4 <= value.length; at += 16) value.writeUInt32LE((i * 2654435761 + at) >>> 0, at);
    writeKey(first, i - 1);
    writeKey(second, Math.floor(i / 2));
    builder.add(0, writeKey(key, i), value, i === 0 ? none : both);
  }
  return builder.finishSync();
};

// What the code itself takes, compiled and in use.
build(`${target}.first`, 2 * 1024 * 1024, 2000);
const before = process.memoryUsage.rss();
const stats = build(target, Number(memoryMiB) * 1024 * 1024, Number(count));
// That of `resourceUsage` begins with what the process that started this one had.
const peak = Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
console.log(JSON.stringify({ before, growth: peak - before, stats }));
