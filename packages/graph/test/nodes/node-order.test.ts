// Every order is a topological sort in which neighbours stand together; a cycle is found where none is allowed and harmless where one
// is; the depth of a graph does not matter.

import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { type Adjacency, componentsOf, FoundCycle, type OrderKind, orderNodes } from '../../src/nodes/node-order.js';

const KINDS: readonly OrderKind[] = ['child-first', 'root-first', 'trace-contiguous'];

type Lists = readonly (readonly number[])[];

const toRows = (lists: Lists): Adjacency => {
  const offsets = new Uint32Array(lists.length + 1);
  lists.forEach(({ length }, i) => {
    offsets[i + 1] = offsets[i] + length;
  });
  return { offsets, targets: Uint32Array.from(lists.flat()) };
};

/** References of nodes, numbered at random: with no cycle unless `cyclic`. */
const anyLists = (cyclic: boolean, size = 40): fc.Arbitrary<Lists> =>
  fc.integer({ min: 0, max: size }).chain((count) =>
    fc
      .tuple(
        fc.array(fc.uniqueArray(fc.nat(Math.max(0, count - 1)), { maxLength: 4 }), {
          minLength: count,
          maxLength: count,
        }),
        fc.shuffledSubarray([...Array(count).keys()], { minLength: count }),
      )
      .map(([wanted, names]) => {
        const lists: number[][] = Array.from({ length: count }, () => []);
        wanted.forEach((targets, node) => {
          lists[names[node]] = targets.filter((target) => cyclic || target < node).map((target) => names[target]);
        });
        return lists;
      }),
  );

/** Cut into groups of neighbouring nodes: first node of each. */
const anyGroups = (count: number): fc.Arbitrary<number[]> =>
  count === 0
    ? fc.constant([])
    : fc
        .uniqueArray(fc.nat(count - 1), { maxLength: 8 })
        .map((cuts) => [...new Set([0, ...cuts])].sort((a, b) => a - b));

const placesOf = (order: Uint32Array | FoundCycle, count: number): number[] => {
  if (order instanceof FoundCycle) throw new Error(`a cycle was found: ${order.nodes.join(' ')}`);
  expect([...order].sort((a, b) => a - b)).toEqual([...Array(count).keys()]);
  const places: number[] = [];
  order.forEach((node, place) => {
    places[node] = place;
  });
  return places;
};

const order = (lists: Lists, kind: OrderKind, allowCycles = false, groupStarts: readonly number[] = [0]) =>
  orderNodes({ kind, references: toRows(lists), allowCycles, groupStarts });

describe('the order of nodes', () => {
  test.each(['child-first', 'root-first'] as const)('%s is topological', (kind) => {
    fc.assert(
      fc.property(anyLists(false), (lists) => {
        const places = placesOf(order(lists, kind), lists.length);
        lists.forEach((targets, node) => {
          for (const target of targets) {
            if (kind === 'child-first') expect(places[node]).toBeLessThan(places[target]);
            else expect(places[node]).toBeGreaterThan(places[target]);
          }
        });
      }),
      { numRuns: samples(80, 300) },
    );
  });

  test('trace-contiguous keeps each group together, in the order of groups, and is root-first inside', () => {
    const anyTraces = anyLists(false).chain((lists) => fc.tuple(fc.constant(lists), anyGroups(lists.length)));
    fc.assert(
      fc.property(anyTraces, ([lists, starts]) => {
        const places = placesOf(order(lists, 'trace-contiguous', false, starts), lists.length);
        const groupOf = lists.map((_, node) => starts.findLastIndex((start) => start <= node));
        starts.forEach((start, group) => {
          const end = starts[group + 1] ?? lists.length;
          for (let node = start; node < end; node++) {
            expect(places[node]).toBeGreaterThanOrEqual(start);
            expect(places[node]).toBeLessThan(end);
            for (const target of lists[node])
              if (groupOf[target] === group) expect(places[node]).toBeGreaterThan(places[target]);
          }
        });
      }),
      { numRuns: samples(80, 300) },
    );
  });

  test('what only one node refers to, as its first reference, stands right behind that node', () => {
    fc.assert(
      fc.property(anyLists(false), (lists) => {
        const places = placesOf(order(lists, 'child-first'), lists.length);
        const referrers = lists.map((_, target) => lists.filter((targets) => targets.includes(target)).length);
        lists.forEach(([first], node) => {
          if (first !== undefined && referrers[first] === 1) expect(places[first]).toBe(places[node] + 1);
        });
      }),
      { numRuns: samples(80, 300) },
    );
  });

  test('the first child of a tree stands right behind its parent, and subtrees are not torn apart', () => {
    const anyTree = fc.array(fc.nat(1000), { maxLength: 60 }).map((choices) => {
      const lists: number[][] = [[]];
      for (const choice of choices) lists.push([choice % lists.length]);
      return lists;
    });
    fc.assert(
      fc.property(anyTree, (lists) => {
        const places = placesOf(order(lists, 'root-first'), lists.length);
        const sizes = lists.map(() => 1);
        for (let node = lists.length - 1; node > 0; node--) sizes[lists[node][0]] += sizes[node];
        lists.forEach(([parent], node) => {
          if (parent === undefined) return;
          const isFirst = lists.findIndex(([other]) => other === parent) === node;
          if (isFirst) expect(places[node]).toBe(places[parent] + 1);
          expect(places[node] + sizes[node]).toBeLessThanOrEqual(places[parent] + sizes[parent]);
        });
      }),
      { numRuns: samples(60, 200) },
    );
  });

  test.each(KINDS)('%s names a real cycle, or there is none', (kind) => {
    fc.assert(
      fc.property(anyLists(true, 12), (lists) => {
        const found = order(lists, kind);
        if (!(found instanceof FoundCycle)) {
          placesOf(found, lists.length);
          expect(hasCycle(lists)).toBe(false);
          return;
        }
        expect(new Set(found.nodes).size).toBe(found.nodes.length);
        found.nodes.forEach((node, i) => {
          expect(lists[node]).toContain(found.nodes[(i + 1) % found.nodes.length]);
        });
      }),
      { numRuns: samples(100, 500) },
    );
  });

  test.each(KINDS)('%s has every node once when cycles are allowed', (kind) => {
    fc.assert(
      fc.property(anyLists(true), (lists) => {
        placesOf(order(lists, kind, true), lists.length);
      }),
      { numRuns: samples(60, 200) },
    );
  });

  test.each(KINDS)('%s goes as deep as the longest chain', (kind) => {
    const count = samples(100_000, 1_000_000);
    const offsets = Uint32Array.from({ length: count + 1 }, (_, i) => Math.min(i, count - 1));
    const targets = Uint32Array.from({ length: count - 1 }, (_, i) => i + 1);
    const places = orderNodes({ kind, references: { offsets, targets }, allowCycles: false, groupStarts: [0] });
    if (places instanceof FoundCycle) throw new Error('a chain is not a cycle');
    const isInOrder = places.every((node, place) => node === (kind === 'child-first' ? place : count - 1 - place));
    expect(isInOrder).toBe(true);
  });

  test('a cycle of all nodes is found', () => {
    const count = samples(100_000, 1_000_000);
    const offsets = Uint32Array.from({ length: count + 1 }, (_, i) => i);
    const targets = Uint32Array.from({ length: count }, (_, i) => (i + 1) % count);
    for (const kind of KINDS) {
      const found = orderNodes({ kind, references: { offsets, targets }, allowCycles: false, groupStarts: [0] });
      expect(found).toBeInstanceOf(FoundCycle);
      expect((found as FoundCycle).nodes).toHaveLength(count);
    }
  });
});

test('nodes are in one component where each can be reached from the other, and refer to none of a lower number', () => {
  fc.assert(
    fc.property(anyLists(true, 12), (lists) => {
      const components = componentsOf(toRows(lists));
      const reached = [...lists.keys()].map((node) => reachedFrom(lists, node));
      lists.forEach((targets, a) => {
        for (const b of lists.keys())
          expect(components[a] === components[b]).toBe(reached[a].has(b) && reached[b].has(a));
        for (const target of targets) expect(components[target]).toBeGreaterThanOrEqual(components[a]);
      });
    }),
    { numRuns: samples(60, 200) },
  );
});

const reachedFrom = (lists: Lists, start: number): ReadonlySet<number> => {
  const reached = new Set([start]);
  for (const node of reached) for (const target of lists[node]) reached.add(target);
  return reached;
};

/** By removing nodes that refer to nothing that is left. */
const hasCycle = (lists: Lists): boolean => {
  const left = new Set(lists.keys());
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const node of left) if (!lists[node].some((target) => left.has(target))) left.delete(node);
  }
  return left.size > 0;
};
