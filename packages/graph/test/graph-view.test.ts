// A graph as plain maps and the same graph in a file give the same nodes, references and ancestries, with ghosts and cycles.

import { describe, expect, test } from 'vitest';
import fc from '../../../test/support/fast-check.js';
import { samples } from '../../../test/support/samples.js';
import { CompactGraphBuilder } from '../src/builder/graph-builder.js';
import { CompactGraph } from '../src/compact-graph.js';
import { BufferSink } from '../src/container/container-writer.js';
import { BufferTransport } from '../src/container/transport/file-transport.js';
import type { OrderKind } from '../src/nodes/node-order.js';
import { failureOf, thrownBy } from './container/support/errors.js';

/** References of each node by list; targets that are not nodes are ghosts. */
type Model = ReadonlyMap<string, readonly (readonly string[])[]>;

const LISTS = 2;
const name = (i: number): string => `node-${i}`;
// Any node may refer to any: circles and references to itself are as likely as anything else. From 25 on they are ghosts.
const anyList = fc.array(fc.nat(30).map(name), { maxLength: 4 });
const anyModel: fc.Arbitrary<Model> = fc
  .uniqueArray(fc.nat(24), { maxLength: 25 })
  .chain((nodes) =>
    fc
      .tuple(...nodes.map(() => fc.tuple(anyList, anyList)))
      .map((lists) => new Map(nodes.map((node, i) => [name(node), lists[i]]))),
  );

const build = async (model: Model, order: OrderKind = 'child-first'): Promise<Buffer> => {
  const sink = new BufferSink();
  const graphs = [{ referenceLists: LISTS, order, cycles: 'allow' } as const];
  const builder = new CompactGraphBuilder(sink, { graphs });
  for (const [key, lists] of model) {
    builder.add(
      0,
      Buffer.from(key),
      Buffer.from(`value of ${key}`),
      lists.map((list) => list.map((target) => Buffer.from(target))),
    );
  }
  await builder.finish();
  return sink.toBuffer();
};

const modelAncestry = (model: Model, starts: readonly string[], list: number) => {
  const seen = new Set(starts);
  for (const key of seen) for (const target of model.get(key)?.[list] ?? []) seen.add(target);
  const all = [...seen].sort();
  return { nodes: all.filter((key) => model.has(key)), ghosts: all.filter((key) => !model.has(key)) };
};

const names = (keys: readonly Buffer[]): string[] => keys.map((key) => key.toString()).sort();

describe('against plain maps', () => {
  test('keys, values, references and ghosts', async () => {
    await fc.assert(
      fc.asyncProperty(anyModel, fc.constantFrom<OrderKind>('child-first', 'root-first'), async (model, order) => {
        const graph = (await CompactGraph.open(await build(model, order))).graph(0);
        const ghosts = new Set([...model.values()].flat(2).filter((key) => !model.has(key)));
        expect([graph.nodeCount, graph.ghostCount]).toEqual([model.size, ghosts.size]);
        const ordinals = Array.from({ length: model.size + ghosts.size }, (_, i) => i);
        const nodes = await graph.nodes(ordinals, { keys: true, values: true, references: true });
        const nameOf = (ordinal: number): string => String(nodes[ordinal].key);
        const read = new Map(
          nodes.slice(0, model.size).map(({ ordinal, references = [] }) => {
            return [nameOf(ordinal), references.map((list) => Array.from(list, nameOf))];
          }),
        );
        expect(read).toEqual(model);
        for (const { ordinal, isGhost, value, references } of nodes) {
          expect(isGhost).toBe(!model.has(nameOf(ordinal)));
          expect(value === undefined ? undefined : Buffer.from(value).toString()).toBe(
            isGhost ? undefined : `value of ${nameOf(ordinal)}`,
          );
          if (isGhost) expect(references).toEqual([]);
        }
        // Ghosts stand in the order of their keys.
        expect(ordinals.slice(model.size).map(nameOf)).toEqual([...ghosts].sort());
        expect(await graph.ordinalsOf(ordinals.map((ordinal) => Buffer.from(nameOf(ordinal))))).toEqual(ordinals);
      }),
      { numRuns: samples(15, 60) },
    );
  });

  test('ancestries by either list from any starts, ghosts among them', async () => {
    const anyStarts = fc.array(fc.nat(30).map(name), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(anyModel, anyStarts, fc.nat(LISTS - 1), async (model, asked, list) => {
        const graph = (await CompactGraph.open(await build(model))).graph(0);
        const ordinals = await graph.ordinalsOf(asked.map((key) => Buffer.from(key)));
        const starts = asked.filter((_, i) => ordinals[i] >= 0);
        const { nodes, ghosts } = await graph.ancestry(
          ordinals.filter((ordinal) => ordinal >= 0),
          { list },
        );
        expect({ nodes: names(await graph.keysOf(nodes)), ghosts: names(await graph.keysOf(ghosts)) }).toEqual(
          modelAncestry(model, starts, list),
        );
        expect([...nodes, ...ghosts]).toEqual([...nodes, ...ghosts].sort((a, b) => a - b));
      }),
      { numRuns: samples(15, 60) },
    );
  });
});

describe('shapes that are hard to walk', () => {
  test('a circle of 10,000 nodes ends', async () => {
    const model = new Map(Array.from({ length: 10_000 }, (_, i) => [name(i), [[name((i + 1) % 10_000)], []]]));
    const graph = (await CompactGraph.open(await build(model))).graph(0);
    const { nodes } = await graph.ancestry([5000]);
    expect(nodes).toHaveLength(10_000);
  });

  test('all that refer to all end', async () => {
    const all = Array.from({ length: 200 }, (_, i) => name(i));
    const graph = (await CompactGraph.open(await build(new Map(all.map((key) => [key, [all, []]]))))).graph(0);
    expect((await graph.ancestry([0, 0, 199])).nodes).toHaveLength(200);
  });

  test('no nodes at all', async () => {
    const graph = (await CompactGraph.open(await build(new Map()))).graph(0);
    expect(await graph.ancestry([])).toMatchObject({ nodes: new Uint32Array(0), ghosts: new Uint32Array(0) });
    expect(await graph.ordinalOf(Buffer.from('a'))).toBe(-1);
    expect(await graph.nodes([], { keys: true, values: true, references: true })).toEqual([]);
    for await (const _ of graph.scan({})) expect.unreachable();
  });
});

describe('wrong use', () => {
  const small: Model = new Map([['a', [['b'], []]]]);

  test('an ordinal that no node has, found before anything is read', async () => {
    const transport = new BufferTransport(await build(small));
    const graph = (await CompactGraph.open(transport, { tailBytes: 1 })).graph(0);
    const { requests } = transport.stats();
    for (const ordinal of [2, -1, 0.5, Number.NaN]) {
      expect(await failureOf(graph.nodes([0, ordinal], { values: true }))).toMatchObject({ name: 'NotFoundError' });
      expect(await failureOf(graph.ancestry([ordinal]))).toMatchObject({ name: 'NotFoundError' });
      expect(thrownBy(() => graph.ancestrySync([ordinal]))).toMatchObject({ name: 'NotFoundError' });
    }
    expect(transport.stats().requests).toBe(requests);
  });

  test('a reference list that the graph does not have', async () => {
    const graph = (await CompactGraph.open(await build(small))).graph(0);
    for (const list of [2, -1, 0.5])
      expect(await failureOf(graph.ancestry([0], { list }))).toMatchObject({ name: 'BadOptionsError' });
  });

  test('parts that the graph was built without', async () => {
    const sink = new BufferSink();
    const graphs = [{ referenceLists: 0, order: 'child-first', values: false, backPointers: false } as const];
    const builder = new CompactGraphBuilder(sink, { graphs });
    builder.add(0, Buffer.from('a'), undefined, []);
    await builder.finish();
    const graph = (await CompactGraph.open(sink.toBuffer())).graph(0);
    const without = { name: 'BadOptionsError', message: expect.stringContaining('built without') };
    expect(await failureOf(graph.nodes([0], { values: true }))).toMatchObject(without);
    expect(await failureOf(graph.nodes([0], { references: true }))).toMatchObject(without);
    expect(await failureOf(graph.keysOf([0]))).toMatchObject(without);
    expect(thrownBy(() => graph.ranksSync())).toMatchObject(without);
    expect(await failureOf(graph.ancestry([0]))).toMatchObject(without);
    expect(await graph.ordinalOf(Buffer.from('a'))).toBe(0);
  });
});
