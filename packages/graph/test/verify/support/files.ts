// Small graph files of every kind, made anew for each test, and what checks them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GraphOptions } from '../../../src/builder/builder-options.js';
import { CompactGraphBuilder } from '../../../src/builder/graph-builder.js';
import { CompactGraph } from '../../../src/compact-graph.js';
import type { Compression } from '../../../src/container/codec.js';
import { BufferSink } from '../../../src/container/container-writer.js';
import { GraphError } from '../../../src/container/graph-error.js';
import { BufferTransport } from '../../../src/container/transport/file-transport.js';
import { GraphIndex } from '../../../src/index/graph-index.js';
import { salvage } from '../../../src/salvage.js';
import { findFaults } from '../../../src/verify/verify-graph.js';
import { hashKeys, seeded, spanKeys } from '../../dictionary/support/random-keys.js';

/** Bytes that do not shrink. */
const noise = (length: number): Buffer => {
  const random = seeded(length + 1);
  return Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
};

/** What `GraphIndexBuilder` writes, which has no choice of compression. */
const index = (compression: Compression, valueBytes = 3): Buffer => {
  const sink = new BufferSink();
  const builder = new CompactGraphBuilder(sink, {
    graphs: [{ referenceLists: 2, order: 'child-first', cycles: 'allow' }],
    notes: { keyElements: '2' },
    compression,
  });
  for (let i = 1; i < 40; i++) {
    const [key, before, other] = [i, i - 1, i >> 1].map((n) => Buffer.from(`file-${n % 5}\0rev-${n}`));
    builder.add(0, key, noise(valueBytes + i), [[before], i % 3 === 0 ? [other] : []]);
  }
  builder.finishSync();
  return sink.toBuffer();
};

const commits = (graph: Partial<GraphOptions>, compression: Compression): Buffer => {
  const sink = new BufferSink();
  const builder = new CompactGraphBuilder(sink, {
    graphs: [{ referenceLists: 1, order: 'child-first', ...graph }],
    compression,
    notes: { from: 'a test' },
  });
  const keys = hashKeys(60);
  keys.forEach((key, i) => {
    const parents = i === 0 ? [Buffer.alloc(20, 1)] : [keys[i - 1], ...(i % 7 === 0 ? [keys[i >> 1]] : [])];
    builder.add(0, key, graph.values === false ? undefined : Buffer.from(`commit ${i}`), [parents]);
  });
  builder.finishSync();
  return sink.toBuffer();
};

/** Several graphs over one key space: groups and a filter, circles, keys alone, nothing at all. */
const several = (compression: Compression): Buffer => {
  const sink = new BufferSink();
  const builder = new CompactGraphBuilder(sink, {
    graphs: [
      { referenceLists: 1, order: 'trace-contiguous', values: false, backPointers: false },
      { referenceLists: 1, order: 'root-first', cycles: 'allow' },
      { referenceLists: 0, order: 'child-first' },
      { referenceLists: 1, order: 'child-first' },
    ],
    groupBytes: 16,
    filter: true,
    compression,
  });
  const keys = spanKeys(8, 6);
  const absent = Buffer.concat([keys[0].subarray(0, 16), Buffer.alloc(8, 255)]);
  keys.forEach((key, i) => {
    builder.add(0, key, undefined, [i % 6 === 0 ? [] : [i % 4 === 0 ? absent : keys[i - (i % 6)]]]);
    if (i % 2 === 0) builder.add(1, key, Buffer.from(`${i}`), [[keys[i + 6 < keys.length ? i + 6 : i - 6], keys[i]]]);
    if (i % 3 === 0) builder.add(2, key, Buffer.from('alone'), []);
  });
  builder.extraSection(1000, 0, Buffer.from('something of the user '.repeat(4)));
  builder.finishSync();
  return sink.toBuffer();
};

const empty = (): Buffer => {
  const sink = new BufferSink();
  new CompactGraphBuilder(sink, { graphs: [{ referenceLists: 1, order: 'child-first' }] }).finishSync();
  return sink.toBuffer();
};

/** Files by what they are. */
export const FILES: Readonly<Record<string, () => Buffer>> = {
  'an index by name, compressed': () => index('deflate'),
  'an index by name, not compressed': () => index('none'),
  'an index of more than 64 KiB': () => index('deflate', 1800),
  'one graph by hash, compressed': () => commits({}, 'deflate'),
  'one graph by hash, not compressed': () => commits({}, 'none'),
  'one graph of references alone': () => commits({ values: false, backPointers: false }, 'deflate'),
  'several graphs, compressed': () => several('deflate'),
  'several graphs, not compressed': () => several('none'),
  'a graph of nothing': empty,
};

export const isIndex = (kind: string): boolean => kind.startsWith('an index');

/** What checking bytes in memory finds: nothing, or an error with a type. */
export const faultIn = async (kind: string, bytes: Buffer): Promise<GraphError | undefined> => {
  try {
    if (isIndex(kind)) {
      const opened = await GraphIndex.open(bytes);
      await opened.validate();
    } else {
      const file = await CompactGraph.open(new BufferTransport(bytes));
      for await (const fault of findFaults(file)) return fault;
    }
  } catch (error) {
    if (error instanceof GraphError) return error;
    throw error;
  }
  return undefined;
};

/** Whether `spanline graph verify` would say that a file with these bytes is undamaged. */
export const isUndamaged = async (directory: string, bytes: Buffer): Promise<boolean> => {
  const path = join(directory, 'file.graph');
  writeFileSync(path, bytes);
  try {
    return (await salvage(path)).isUndamaged;
  } catch (error) {
    if (error instanceof GraphError) return false;
    throw error;
  }
};
