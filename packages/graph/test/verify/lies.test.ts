// What a file says of itself is counted: a lie under checksums that are right is found, by validate and by verify, in every field.
import { describe, expect, test } from 'vitest';
import { sampleOf } from '../../../../test/support/samples.js';
import { SectionId } from '../../src/container/layout.js';
import type { GraphInfo, GraphMeta } from '../../src/meta.js';
import { temporaryDirectory } from '../container/support/temporary-directory.js';
import { FILES, faultIn, isUndamaged } from './support/files.js';
import { fileOf, type Parts, withMeta, withSections } from './support/forge.js';

const found = async (kind: string, bytes: Buffer): Promise<boolean> => {
  const [fault, undamaged] = [await faultIn(kind, bytes), await isUndamaged(temporaryDirectory(), bytes)];
  expect(fault === undefined, `validate and verify agree: ${fault?.message}`).toBe(undamaged);
  return !undamaged;
};

const changeGraph =
  (graph: number, change: (info: GraphInfo) => object) =>
  (meta: GraphMeta): unknown => ({
    ...meta,
    graphs: meta.graphs.map((info, i) => (i === graph ? change(info) : info)),
  });

const COUNTS = ['nodeCount', 'ghostCount', 'edgeCount', 'referenceLists'] as const;
const FLAGS = ['hasReferences', 'hasValues', 'hasBackPointers'] as const;

describe.each(sampleOf(Object.keys(FILES), 3, 9))('%s', (kind) => {
  const bytes = FILES[kind]();
  let graphs: readonly GraphInfo[] = [];
  withMeta(bytes, (meta) => {
    graphs = meta.graphs;
    return meta;
  });

  test('written anew as it is, it is undamaged', async () => {
    expect(
      await found(
        kind,
        withMeta(bytes, (meta) => meta),
      ),
    ).toBe(false);
  });

  test('a count of its meta section that is another is found', async () => {
    for (const by of [1, -1, 1000]) {
      const lies = [
        (meta: GraphMeta) => ({ ...meta, keyCount: meta.keyCount + by }),
        // Nothing can be said of how many lists the nodes of a graph without nodes have.
        ...graphs.flatMap(({ nodeCount }, graph) =>
          COUNTS.filter((field) => field !== 'referenceLists' || nodeCount > 0).map((field) =>
            changeGraph(graph, (info) => ({ ...info, [field]: info[field] + by })),
          ),
        ),
        ...graphs.flatMap((_, graph) => [
          changeGraph(graph, (info) => ({
            ...info,
            nodeCount: info.nodeCount + by,
            ghostCount: info.ghostCount - by,
          })),
        ]),
      ];
      for (const lie of lies) expect(await found(kind, withMeta(bytes, lie)), String(lie)).toBe(true);
    }
  });

  test('what it says that graphs keep is looked at', async () => {
    for (const graph of graphs.keys()) {
      for (const field of FLAGS) {
        const lie = changeGraph(graph, (info) => ({ ...info, [field]: !info[field] }));
        expect(await found(kind, withMeta(bytes, lie)), `${field} of ${graph}`).toBe(true);
      }
      for (const other of [undefined, 1, 'true']) {
        const lie = changeGraph(graph, (info) => ({ ...info, cycles: other, hasValues: other }));
        expect(await found(kind, withMeta(bytes, lie)), String(other)).toBe(true);
      }
    }
    const noGraphs = withMeta(bytes, (meta) => ({ ...meta, graphs: meta.graphs.slice(1) }));
    expect(await found(kind, noGraphs)).toBe(true);
    const notAText = withMeta(bytes, (meta) => ({ ...meta, notes: { ...meta.notes, other: 1 } }));
    expect(await found(kind, notAText)).toBe(true);
  });

  test('an order that is another is found', async () => {
    for (const [graph, { order, edgeCount }] of graphs.entries()) {
      if (edgeCount === 0) continue;
      const opposite = order === 'child-first' ? 'root-first' : 'child-first';
      const lie = changeGraph(graph, (info) => ({ ...info, order: opposite }));
      expect(await found(kind, withMeta(bytes, lie)), `graph ${graph}`).toBe(true);
    }
  });

  test('a copy that says something else is found', async () => {
    for (const id of [SectionId.metaCopy, SectionId.dictionaryIndexCopy, SectionId.referenceBlocks]) {
      let isThere = false;
      const forged = withSections(bytes, (entry, body) => {
        if (entry.id !== id || body.length === 0) return undefined;
        isThere = true;
        const other = Buffer.from(body);
        // A digit of a JSON text, or a checksum at the end of a table.
        const at = id === SectionId.metaCopy ? body.indexOf('"keyCount":') + 11 : body.length - 1;
        other[at] ^= 1;
        return other;
      });
      if (isThere) expect(await found(kind, forged), String(id)).toBe(true);
    }
  });
});

describe('a file of one graph', () => {
  const keys = Array.from({ length: 150 }, (_, i) => Buffer.from(`key ${String(i).padStart(4, '0')}`));
  /** Key `i` is node `i`, which refers to the next; the last two are absent. */
  const good: Parts = {
    keys,
    ordinals: keys.map((_, i) => i),
    references: keys.slice(0, -2).map((_, i) => (i === 100 ? [101, 149] : [i + 1])),
    ranks: keys.map((_, i) => i),
    ghostCount: 2,
  };
  const swapped = (numbers: readonly number[], a: number, b: number): number[] =>
    numbers.map((number, i) => (i === a ? numbers[b] : i === b ? numbers[a] : number));
  const lies: Readonly<Record<string, Parts>> = {
    'ordinals of two keys exchanged': { ...good, ordinals: swapped(good.ordinals, 3, 90) },
    'ordinals and back pointers of two absent nodes exchanged': {
      ...good,
      ordinals: swapped(good.ordinals, 148, 149),
      ranks: swapped(good.ranks, 148, 149),
    },
    'an ordinal twice': { ...good, ordinals: good.ordinals.map((n) => (n === 7 ? 8 : n)) },
    'a blank': { ...good, ordinals: good.ordinals.map((n) => (n === 7 ? -1 : n)) },
    'an ordinal beyond the end': { ...good, ordinals: good.ordinals.map((n) => (n === 7 ? 150 : n)) },
    'back pointers exchanged': { ...good, ranks: swapped(good.ranks, 3, 90) },
    'a reference against the order': { ...good, references: good.references.map((list, i) => (i === 50 ? [3] : list)) },
    'a reference to itself': { ...good, references: good.references.map((list, i) => (i === 50 ? [50] : list)) },
    'an absent node to which nothing refers': {
      ...good,
      references: good.references.map((list, i) => (i === 100 ? [101] : list)),
    },
    'a filter that denies a key': { ...good, filterKeys: keys.filter((_, i) => i !== 70) },
    'a filter of more keys': {
      ...good,
      filterKeys: [...keys, ...keys.map((key) => Buffer.from(`${key.toString()}x`))].sort(Buffer.compare),
    },
    'an order by groups, of no groups': { ...good, info: { order: 'trace-contiguous' } },
    'an order in which groups are torn': {
      ...good,
      // Groups are the hundreds.
      groupBytes: 6,
      ordinals: swapped(good.ordinals, 3, 110),
      ranks: swapped(good.ranks, 3, 110),
      references: good.references.map(() => []).map((_, i) => (i === 0 ? [148, 149] : [])),
      info: { order: 'trace-contiguous', edgeCount: 2 },
    },
    'a reference against the order outside of any cycle': {
      ...good,
      references: good.references
        .map((list, i) => (i === 50 ? [51, 3] : i === 60 ? [] : list))
        .map((list, i) => (i === 70 ? [71, 65, 50] : list)),
      info: { cycles: true },
    },
  };

  test('is undamaged when all fits', async () => {
    expect(await found('', fileOf(good))).toBe(false);
    expect(await found('', fileOf({ ...good, filterKeys: keys }))).toBe(false);
    const circle = good.references.map((list, i) => (i === 147 ? [...list, 20] : list));
    expect(await found('', fileOf({ ...good, references: circle, info: { cycles: true } }))).toBe(false);
  });

  test.each(Object.keys(lies))('%s: found', async (name) => {
    expect(await found('', fileOf(lies[name]))).toBe(true);
  });

  test('bytes in reserved places of header, table of contents and footer are found', async () => {
    const bytes = fileOf(good);
    for (let at = 8; at < 16; at++) {
      const forged = Buffer.from(bytes);
      forged[at] ^= 1;
      expect(await found('', forged), `header ${at}`).toBe(true);
    }
  });
});
