// A graph file answers the same at once and later, in as few reads and bytes as it promises, and says what it is not asked right.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { CompactGraphBuilder } from '../src/builder/graph-builder.js';
import { CompactGraph } from '../src/compact-graph.js';
import { BlockCache } from '../src/container/block-cache.js';
import { BufferSink } from '../src/container/container-writer.js';
import { BufferTransport, FileTransport } from '../src/container/transport/file-transport.js';
import type { SyncTransport, Transport } from '../src/container/transport/transport.js';
import { failureOf, thrownBy } from './container/support/errors.js';
import { temporaryDirectory } from './container/support/temporary-directory.js';
import { buildHistory, makeHistory } from './support/synthetic-history.js';

const directory = temporaryDirectory();
const COMMITS = 50_000;
const history = makeHistory(COMMITS);
const path = join(directory, 'history.graph');
let bytes: Buffer;

beforeAll(async () => {
  bytes = await buildHistory(history);
  writeFileSync(path, bytes);
});

/** What a piece of work asks of the transport. */
const costOf = async (file: CompactGraph, work: () => unknown): Promise<{ requests: number; bytes: number }> => {
  const before = file.stats().transport;
  await work();
  const after = file.stats().transport;
  return { requests: after.requests - before.requests, bytes: after.bytes - before.bytes };
};

describe('reads', () => {
  const commit = 31_337;
  const node = { key: history.keys[commit], value: Buffer.from(`commit ${commit}`) };

  test('a cold look-up of a node takes three: the tail, keys, the node', async () => {
    const file = await CompactGraph.open(path);
    expect(file.stats().transport.requests).toBe(1);
    const cost = await costOf(file, async () => {
      const ordinal = await file.graph(0).ordinalOf(node.key);
      const [found] = await file.graph(0).nodes([ordinal], { values: true });
      expect(Buffer.from(found.value ?? [])).toEqual(node.value);
    });
    expect(cost.requests).toBeLessThanOrEqual(2);
    expect(cost.bytes).toBeLessThan(32 * 1024);
    await file.close();
  });

  test('the same again takes none, and after clearCache two', async () => {
    const file = await CompactGraph.open(path);
    const lookUp = async () => file.graph(0).nodes([await file.graph(0).ordinalOf(node.key)], { values: true });
    await lookUp();
    expect((await costOf(file, lookUp)).requests).toBe(0);
    expect(file.stats().cache.hits).toBeGreaterThan(0);
    file.clearCache();
    expect((await costOf(file, lookUp)).requests).toBe(2);
    await file.close();
  });

  test('a full ancestry takes four at most, and 4 % of the file', async () => {
    const file = await CompactGraph.open(path);
    const starts = await file.graph(0).ordinalsOf(history.heads.map((head) => history.keys[head]));
    const cost = await costOf(file, async () => {
      const { nodes, ghosts } = await file.graph(0).ancestry(starts);
      expect(nodes).toHaveLength(COMMITS);
      expect(ghosts).toHaveLength(0);
    });
    expect(cost.requests).toBeLessThanOrEqual(4);
    expect(cost.bytes).toBeLessThanOrEqual(bytes.length * 0.04);
    expect((await costOf(file, () => file.graph(0).ancestry(starts))).requests).toBe(0);
    await file.close();
  });

  test('opening, a full ancestry and the names of all it reached read no byte twice', async () => {
    const { size } = new BufferTransport(bytes).readTailSync(1);
    const read = new Uint8Array(size);
    const inner = new BufferTransport(bytes);
    const mark = (start: number, length: number): void => {
      for (let at = start; at < start + length; at++) read[at]++;
    };
    // Hands everything on, and notes which bytes were asked for.
    const noting: Transport = {
      name: inner.name,
      readRanges: (ranges, options) => {
        for (const { offset, length } of ranges) mark(offset, length);
        return inner.readRanges(ranges, options);
      },
      readTail: (length, options) => {
        mark(Math.max(0, size - length), Math.min(size, length));
        return inner.readTail(length, options);
      },
      stats: () => inner.stats(),
      close: () => inner.close(),
    };
    const file = await CompactGraph.open(noting);
    const graph = file.graph(0);
    const { nodes } = await graph.ancestry(Uint32Array.from({ length: graph.nodeCount }, (_, i) => i));
    expect(await graph.keysOf(nodes)).toHaveLength(COMMITS);
    expect(read.every((times) => times <= 1)).toBe(true);
    expect(file.stats().transport.requests).toBeLessThanOrEqual(5);
  });

  test('a cache too small for all references keeps none of them, and answers the same', async () => {
    const file = await CompactGraph.open(path, { cache: 64 * 1024 });
    const start = await file.graph(0).ordinalOf(history.keys[history.heads[0]]);
    const first = await file.graph(0).ancestry([start]);
    expect((await costOf(file, () => file.graph(0).ancestry([start]))).bytes).toBeGreaterThan(0);
    expect(isDeepStrictEqual(await file.graph(0).ancestry([start]), first)).toBe(true);
    expect(file.stats().cache.bytes).toBeLessThanOrEqual(64 * 1024);
    await file.close();
  });

  test('a thousand keys at once take no more bytes than the dictionary has', async () => {
    const file = await CompactGraph.open(path);
    const some = Array.from({ length: 1000 }, (_, i) => history.keys[(i * 7919) % COMMITS]);
    const { requests, bytes: read } = await costOf(file, async () => {
      expect((await file.graph(0).ordinalsOf(some)).every((ordinal) => ordinal >= 0)).toBe(true);
    });
    expect(read).toBeLessThanOrEqual(bytes.length);
    expect(requests).toBeLessThanOrEqual(400);
    await file.close();
  });

  test('one cache serves several files and mixes up none of them', async () => {
    const other = await buildHistory(makeHistory(2000, 2));
    const cache = new BlockCache(1024 * 1024);
    const files = [await CompactGraph.open(bytes, { cache }), await CompactGraph.open(other, { cache })];
    const alone = await CompactGraph.open(other);
    const ordinals = Uint32Array.from({ length: 600 }, (_, i) => i);
    for (const file of files) await file.graph(0).nodes(ordinals, { keys: true, values: true });
    const parts = { keys: true, values: true, references: true };
    expect(await files[1].graph(0).nodes(ordinals, parts)).toEqual(await alone.graph(0).nodes(ordinals, parts));
  });
});

describe('at once', () => {
  test('every method answers as the one that waits does', async () => {
    const smaller = makeHistory(1200);
    const { keys: known } = smaller;
    const place = join(directory, 'smaller.graph');
    writeFileSync(place, await buildHistory(smaller));
    const later = await CompactGraph.open(place);
    const now = CompactGraph.openSync(place);
    const [a, b] = [later.graph(0), now.graph(0)];
    const keys = [known[0], known[1199], known[600], Buffer.from('absent')];
    expect(b.ordinalsOfSync(keys)).toEqual(await a.ordinalsOf(keys));
    expect(keys.map((key) => b.ordinalOfSync(key))).toEqual(await Promise.all(keys.map((key) => a.ordinalOf(key))));
    const ordinals = b.ordinalsOfSync(keys).slice(0, 3);
    const parts = { keys: true, values: true, references: true };
    expect(b.nodesSync(ordinals, parts)).toEqual(await a.nodes(ordinals, parts));
    expect(b.keysOfSync(ordinals)).toEqual(await a.keysOf(ordinals));
    expect(b.referencesSync()).toEqual(await a.references());
    expect(b.ranksSync()).toEqual(await a.ranks());
    expect(b.ancestrySync(ordinals)).toEqual(await a.ancestry(ordinals));
    const scanned = [];
    for await (const batch of a.scan(parts)) scanned.push(...batch);
    expect(scanned).toHaveLength(1200);
    expect([...b.scanSync(parts)].flat()).toEqual(scanned);
    await later.close();
    await now.close();
  });

  test('a file inside a bigger one is read as if it were alone', async () => {
    const small = await buildHistory(makeHistory(300));
    const bigger = join(directory, 'bigger');
    writeFileSync(bigger, Buffer.concat([Buffer.alloc(777, 1), small, Buffer.alloc(333, 2)]));
    const place = { offset: 777, length: small.length };
    const file = await CompactGraph.open(await FileTransport.open(bigger, place));
    const alone = await CompactGraph.open(small);
    const ordinals = Uint32Array.from({ length: 300 }, (_, i) => i);
    expect(await file.graph(0).keysOf(ordinals)).toEqual(await alone.graph(0).keysOf(ordinals));
    await file.close();
    const now = CompactGraph.openSync(FileTransport.openSync(bigger, place));
    expect(now.graph(0).nodeCount).toBe(300);
    await now.close();
  });
});

describe('extra sections', () => {
  test('come back as they were given, by id and graph', async () => {
    const sink = new BufferSink();
    const builder = new CompactGraphBuilder(sink, { graphs: [{ referenceLists: 0, order: 'child-first' }] });
    builder.extraSection(1000, undefined, Buffer.from('of the file'));
    builder.extraSection(1000, 0, Buffer.from('of the graph'));
    await builder.finish();
    const file = await CompactGraph.open(sink.toBuffer());
    expect((await file.extraSection(1000))?.toString()).toBe('of the file');
    expect((await file.extraSection(1000, 0))?.toString()).toBe('of the graph');
    expect(await file.extraSection(1001)).toBeUndefined();
  });
});

describe('wrong use', () => {
  test('a graph that the file does not have', async () => {
    const file = await CompactGraph.open(bytes);
    for (const index of [1, -1, 0.5])
      expect(thrownBy(() => file.graph(index))).toMatchObject({ name: 'BadOptionsError' });
  });

  test('a file that was closed', async () => {
    const file = await CompactGraph.open(bytes);
    const view = file.graph(0);
    await file.close();
    await file.close();
    expect(thrownBy(() => file.graph(0))).toMatchObject({ name: 'ClosedError' });
    expect(await failureOf(view.ordinalOf(history.keys[0]))).toMatchObject({ name: 'ClosedError' });
    expect(await failureOf(view.ancestry([0]))).toMatchObject({ name: 'ClosedError' });
  });

  test('a file that cannot be opened is closed again', async () => {
    const transport = new BufferTransport(Buffer.from('no graph file, but long enough to be looked at: '.repeat(4)));
    expect(await failureOf(CompactGraph.open(transport))).toMatchObject({ name: 'BadSignatureError' });
    expect(await failureOf(transport.readTail(1))).toMatchObject({ name: 'ClosedError' });
    expect(await failureOf(CompactGraph.open(join(directory, 'absent')))).toMatchObject({ name: 'NotFoundError' });
    expect(thrownBy(() => CompactGraph.openSync(join(directory, 'absent')))).toMatchObject({ name: 'NotFoundError' });
  });

  test('asking at once where one must wait', async () => {
    const inner = new BufferTransport(bytes);
    const remote: Transport = {
      name: 'far away',
      readRanges: (ranges, options) => inner.readRanges(ranges, options),
      readTail: (length, options) => inner.readTail(length, options),
      stats: () => inner.stats(),
      close: async () => {},
    };
    expect(thrownBy(() => CompactGraph.openSync(remote as SyncTransport))).toMatchObject({ name: 'BadOptionsError' });
    const file = await CompactGraph.open(remote);
    expect(thrownBy(() => file.graph(0).ordinalOfSync(history.keys[0]))).toMatchObject({ name: 'BadOptionsError' });
    expect(await file.graph(0).ordinalOf(history.keys[0])).toBeGreaterThanOrEqual(0);
  });

  test.each([[{ cache: -1 }], [{ cache: Number.NaN }], [{ maxWalkBytes: -1 }], [{ maxWalkBytes: 0.5 }]])(
    'bounds that are none: %j',
    async (options) => {
      expect(await failureOf(CompactGraph.open(bytes, options))).toMatchObject({ name: 'BadOptionsError' });
      expect(thrownBy(() => CompactGraph.openSync(path, options))).toMatchObject({ name: 'BadOptionsError' });
    },
  );

  test('a walk that would take more memory than it may', async () => {
    const file = await CompactGraph.open(bytes, { maxWalkBytes: 100_000 });
    const graph = file.graph(0);
    const before = file.stats().transport.requests;
    expect(await failureOf(graph.ancestry([0]))).toMatchObject({ name: 'LimitError' });
    expect(await failureOf(graph.references())).toMatchObject({ name: 'LimitError' });
    expect(await failureOf(graph.ranks())).toMatchObject({ name: 'LimitError' });
    expect(file.stats().transport.requests).toBe(before);
    // Nodes one by one need no such memory.
    expect((await graph.nodes([0], { references: true }))[0].references?.[0].length).toBeGreaterThan(0);
  });

  test('a signal that has fired', async () => {
    const signal = AbortSignal.abort();
    expect(await failureOf(CompactGraph.open(bytes, { signal }))).toMatchObject({ name: 'AbortedError' });
    const file = await CompactGraph.open(bytes);
    expect(await failureOf(file.graph(0).ancestry([0], { signal }))).toMatchObject({ name: 'AbortedError' });
    expect(await failureOf(file.graph(0).ordinalOf(history.keys[0], { signal }))).toMatchObject({
      name: 'AbortedError',
    });
  });
});
