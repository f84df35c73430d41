// Salvage keeps what can be read of a damaged file and lists the rest: the new file never says anything that the old one did not.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import fc from '../../../test/support/fast-check.js';
import { sampleOf, samples } from '../../../test/support/samples.js';
import type { GraphBuilderOptions } from '../src/builder/builder-options.js';
import { CompactGraphBuilder } from '../src/builder/graph-builder.js';
import { clusterFile } from '../src/container/cluster-map.js';
import { Container } from '../src/container/container.js';
import { BufferSink } from '../src/container/container-writer.js';
import { BadOptionsError, CorruptError, GraphError } from '../src/container/graph-error.js';
import { HEADER_BYTES, NO_GRAPH, type SectionEntry, SectionId } from '../src/container/layout.js';
import { BufferTransport } from '../src/container/transport/file-transport.js';
import { type SalvageOptions, type SalvageReport, salvage } from '../src/salvage.js';
import { addAll, expectedGraphs, type ModelGraph, type ModelNode, readGraphs } from './builder/support/graph-model.js';
import { failureOf } from './container/support/errors.js';
import { temporaryDirectory } from './container/support/temporary-directory.js';
import { anyBelow, anyCut, anyFill, damaged } from './support/damage.js';

const directory = temporaryDirectory();
const NODES = 1400;

const key = (i: number): string => `key-${String((i * 7919) % NODES).padStart(5, '0')}`;

/** Two graphs: a history with values, and one that only says which keys it has. */
const OPTIONS: GraphBuilderOptions = {
  graphs: [
    { referenceLists: 1, order: 'child-first' },
    { referenceLists: 0, order: 'root-first', values: false },
  ],
  filter: true,
  notes: { from: 'a test' },
};

const model: ModelNode[] = Array.from({ length: NODES }, (_, i): ModelNode[] => {
  const references = i === 0 ? [] : [key(i - 1), ...(i % 5 === 0 ? [key(Math.floor(i / 2)), `ghost-${i % 50}`] : [])];
  const tree = { graph: 0, key: key(i), value: `value of ${i}`, references: [references] };
  return i % 3 === 0 ? [tree, { graph: 1, key: key(i), value: '', references: [] }] : [tree];
}).flat();

const original: Buffer = (() => {
  const sink = new BufferSink();
  const builder = new CompactGraphBuilder(sink, OPTIONS);
  addAll(builder, model);
  builder.extraSection(1000, 0, Buffer.from('belongs to nodes'));
  builder.extraSection(1001, undefined, Buffer.from('belongs to the file'));
  builder.finishSync();
  return sink.toBuffer();
})();
const [whole, names] = expectedGraphs(model, 2);
const container = Container.openSync(new BufferTransport(original));

let files = 0;

interface Salvaged {
  readonly report: SalvageReport;
  readonly graphs: readonly ModelGraph[];
  readonly file: Buffer;
}

const salvageBytes = async (bytes: Buffer, options?: SalvageOptions): Promise<Salvaged> => {
  const folder = join(directory, String(files++));
  mkdirSync(folder);
  const [path, target] = [join(folder, 'damaged.graph'), join(folder, 'salvaged.graph')];
  writeFileSync(path, bytes);
  const report = await salvage(path, target, options);
  return { report, graphs: await readGraphs(target), file: readFileSync(target) };
};

const flipped = (...places: readonly number[]): Buffer => {
  const bytes = Buffer.from(original);
  for (const place of places) bytes[place] ^= 0x10;
  return bytes;
};

/** Every node of the new file is in the old one, the same but for placeholders; ghosts are ghosts, or nodes that were lost. */
const expectNothingInvented = ({ report, graphs }: Salvaged): void => {
  [whole, names].forEach((before, graph) => {
    const after = graphs[graph];
    const { keptNodes, incompleteNodes, lost, placeholders } = report.graphs[graph];
    const kept = Object.keys(after.nodes);
    expect(kept).toHaveLength(keptNodes);
    expect(lost.reduce((sum, { count }) => sum + count, 0)).toBe(
      Object.keys(before.nodes).length - keptNodes + incompleteNodes,
    );
    let unknown = 0;
    const wrong = kept.filter((name) => {
      const { references, value } = after.nodes[name];
      const expected = before.nodes[name];
      if (value !== expected?.value) return true;
      return references.some((list, l) => {
        const isWrong = (reference: string, i: number): boolean => {
          if (!reference.startsWith('?lost-')) return reference !== expected.references[l][i];
          unknown++;
          return false;
        };
        return list.length !== expected.references[l].length || list.some(isWrong);
      });
    });
    expect(wrong).toEqual([]);
    expect(unknown).toBe(placeholders);
  });
};

const middleOf = ({ offset, storedLength }: SectionEntry): number => offset + Math.floor(storedLength / 2);
const section = (id: number, graph = NO_GRAPH): SectionEntry => container.need(id, graph);

const ALL_KEPT = [
  { keptNodes: NODES, lost: [], placeholders: 0 },
  { keptNodes: Object.keys(names.nodes).length, lost: [], placeholders: 0 },
];

describe('salvage of an undamaged file', () => {
  test('makes an equal copy and reports no damage', async () => {
    const { report, file } = await salvageBytes(original);
    expect(report).toMatchObject({ isUndamaged: true, damage: [], lostKeys: [], graphs: ALL_KEPT, lostSections: [] });
    expect(file.equals(original)).toBe(true);
  });

  test('may only report', async () => {
    const path = join(directory, 'only.graph');
    writeFileSync(path, original);
    expect((await salvage(path)).built).toBeUndefined();
    expect(await failureOf(salvage(path, path))).toBeInstanceOf(BadOptionsError);
    // However the path is written.
    symlinkSync(path, `${path}.link`);
    for (const [from, to] of [
      [path, relative('.', path)],
      [`${path}.link`, path],
    ])
      expect(await failureOf(salvage(from, to))).toBeInstanceOf(BadOptionsError);
  });
});

describe('what is described twice is not lost with one of its copies', () => {
  test.each([
    ['meta', section(SectionId.meta)],
    ['its copy', section(SectionId.metaCopy)],
    ['the index of keys', section(SectionId.dictionaryIndex)],
    ['its copy', section(SectionId.dictionaryIndexCopy)],
    ['the node table', section(SectionId.nodeTable, 0)],
    ['the copy of its references', section(SectionId.referenceBlocks, 0)],
    ['the copy of its values', section(SectionId.valueBlocks, 0)],
    ['back pointers', section(SectionId.backPointers, 0)],
    ['the filter', section(SectionId.filter)],
  ])('%s', async (_, entry) => {
    const salvaged = await salvageBytes(flipped(middleOf(entry)));
    expect(salvaged.report.isUndamaged).toBe(false);
    expect(salvaged.report.damage.length).toBeGreaterThan(0);
    expect(salvaged.report).toMatchObject({ graphs: ALL_KEPT, lostKeys: [], lostSections: [] });
    expect(salvaged.file.equals(original)).toBe(true);
  });

  test('footer and table of contents', async () => {
    for (const place of [original.length - 1, original.length - 20, original.length - 100]) {
      const salvaged = await salvageBytes(flipped(place));
      expect(salvaged.report.isUndamaged).toBe(false);
      expect(salvaged.file.equals(original)).toBe(true);
    }
  });

  test('every byte of the header', async () => {
    for (const place of sampleOf([...Array(HEADER_BYTES).keys()], 4, HEADER_BYTES)) {
      const salvaged = await salvageBytes(flipped(place));
      expect(salvaged.file.equals(original)).toBe(true);
    }
  });

  test('both copies of meta are all there is', async () => {
    const both = flipped(middleOf(section(SectionId.meta)), middleOf(section(SectionId.metaCopy)));
    expect(await failureOf(salvageBytes(both))).toBeInstanceOf(CorruptError);
  });
});

describe('a damaged block', () => {
  test('of references loses their nodes, which become ghosts', async () => {
    const { offset } = section(SectionId.references, 0);
    const salvaged = await salvageBytes(flipped(offset + 3));
    expectNothingInvented(salvaged);
    const [{ lost, keptNodes }] = salvaged.report.graphs;
    expect(keptNodes).toBe(NODES - 512);
    expect(lost).toMatchObject([{ firstOrdinal: 0, count: 512, parts: ['references'] }]);
    expect(lost[0].keys).toHaveLength(512);
    const lostKeys = new Set(lost[0].keys.map(String));
    expect(Object.keys(whole.nodes).filter((name) => !(name in salvaged.graphs[0].nodes))).toHaveLength(512);
    expect(
      salvaged.graphs[0].ghosts.filter((ghost) => !ghost.startsWith('ghost-')).every((ghost) => lostKeys.has(ghost)),
    ).toBe(true);
    // What belonged to ordinals has nothing to belong to.
    expect(salvaged.report.lostSections).toEqual([{ id: 1000, graph: 0 }, { id: 1001 }]);
  });

  test('of values loses their nodes, or only the values when that is wanted', async () => {
    const damaged = flipped(section(SectionId.values, 0).offset + 3);
    const dropped = await salvageBytes(damaged);
    expectNothingInvented(dropped);
    expect(dropped.report.graphs[0]).toMatchObject({ keptNodes: NODES - 512, incompleteNodes: 0 });
    const { report, graphs } = await salvageBytes(damaged, { incomplete: 'keep' });
    expect(report.graphs[0]).toMatchObject({ keptNodes: NODES, incompleteNodes: 512 });
    expect(report.graphs[0].lost).toMatchObject([{ firstOrdinal: 0, count: 512, parts: ['value'] }]);
    const values = Object.values(graphs[0].nodes).filter(({ value }) => value === '');
    expect(values).toHaveLength(512);
    for (const [name, { references }] of Object.entries(graphs[0].nodes))
      expect(references).toEqual(whole.nodes[name].references);
  });

  test('of keys loses those keys, and leaves placeholders to what referred to them', async () => {
    const salvaged = await salvageBytes(flipped(section(SectionId.dictionaryBlocks).offset + 5));
    expectNothingInvented(salvaged);
    const { lostKeys, graphs, damage } = salvaged.report;
    expect(damage).toMatchObject([{ section: 'dictionaryBlocks', block: 0 }]);
    expect(lostKeys).toMatchObject([{ firstRank: 0, count: 128 }]);
    expect(lostKeys[0].after).toBeUndefined();
    expect(String(lostKeys[0].before)).toBe([...Object.keys(whole.nodes), ...whole.ghosts].sort()[128]);
    expect(graphs[0].placeholders).toBeGreaterThan(0);
    expect(salvaged.graphs[0].ghosts.some((ghost) => /^\?lost-0-\d+$/.test(ghost))).toBe(true);
    const own = await salvageBytes(flipped(section(SectionId.dictionaryBlocks).offset + 5), {
      placeholderKey: (graph, ordinal) => Buffer.from(`${graph}/${ordinal}`),
    });
    expect(own.graphs[0].ghosts.some((ghost) => /^0\/\d+$/.test(ghost))).toBe(true);
  });
});

describe('a clustered file', () => {
  const half = Math.floor(original.length / 2);
  const halves = [
    { offset: half, length: original.length - half },
    { offset: 0, length: half },
  ];
  const flippedIn = (file: Buffer, places: readonly number[]): Buffer => {
    const bytes = Buffer.from(file);
    for (const place of places) bytes[place] ^= 0x10;
    return bytes;
  };

  test('loses nothing of which one of two copies is whole', async () => {
    const twice = clusterFile(original, [halves], [{ offset: 0, length: original.length }]);
    const placeOf = (offset: number, copy: number): number =>
      copy === 1 ? original.length + offset : (offset + original.length - half) % original.length;
    const damagedPlaces = [
      section(SectionId.dictionaryBlocks).offset + 5,
      section(SectionId.references, 0).offset + 3,
      section(SectionId.values, 0).offset + 3,
      middleOf(section(SectionId.meta)),
      middleOf(section(SectionId.metaCopy)),
      middleOf(section(1000, 0)),
      // The table of contents.
      original.length - 100,
    ];
    for (const first of [0, 1]) {
      const places = damagedPlaces.map((offset, i) => placeOf(offset, (first + i) % 2));
      const { report, file } = await salvageBytes(flippedIn(twice, places));
      expect(report).toMatchObject({ isUndamaged: false, graphs: ALL_KEPT, lostKeys: [], lostSections: [] });
      expect([...new Set(report.damage.map(({ section }) => section))]).toEqual(['clusters']);
      expect(file.equals(original)).toBe(true);
    }
  });

  test('loses nothing where what says where something is lies damaged before it, in either copy', async () => {
    const all = { offset: 0, length: original.length };
    const twice = clusterFile(original, [[all]], [all]);
    // The table of contents, and the footer that says where it is.
    const [toc, footer] = [original.length - 100, original.length - 20];
    for (const [one, other] of [
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ]) {
      const places = [toc + one * original.length, footer + other * original.length];
      const { report, file } = await salvageBytes(flippedIn(twice, places));
      expect([...new Set(report.damage.map(({ section }) => section))]).toEqual(['clusters']);
      expect(file.equals(original)).toBe(true);
    }
  });

  test('of which both copies of a block are damaged loses that block', async () => {
    const all = { offset: 0, length: original.length };
    const twice = clusterFile(original, [[all]], [all]);
    const { offset } = section(SectionId.references, 0);
    const salvaged = await salvageBytes(flippedIn(twice, [offset + 3, original.length + offset + 4]));
    expectNothingInvented(salvaged);
    expect(salvaged.report.graphs[0].lost).toMatchObject([{ firstOrdinal: 0, count: 512, parts: ['references'] }]);
  });

  test('is read in the order of what it is clustered of when its table of contents is lost', async () => {
    const { report, file } = await salvageBytes(
      flippedIn(clusterFile(original, [halves], []), [original.length - half - 100]),
    );
    // What has no waymark is lost with it, and has a copy.
    expect(report.damage.map(({ section }) => section)).toEqual([
      'toc',
      'meta',
      'dictionaryIndex',
      'nodeTable',
      'nodeTable',
    ]);
    expect(report).toMatchObject({ graphs: ALL_KEPT, lostKeys: [], lostSections: [] });
    expect(file.equals(original)).toBe(true);
  });
});

describe('any damage', () => {
  /** Salvage gives a file that invents nothing, or says that nothing is left. */
  const check = async (bytes: Buffer): Promise<Salvaged | undefined> => {
    try {
      const salvaged = await salvageBytes(bytes);
      expectNothingInvented(salvaged);
      return salvaged;
    } catch (error) {
      expect(error).toBeInstanceOf(GraphError);
      return undefined;
    }
  };

  test('of one byte loses one block at most', async () => {
    await fc.assert(
      fc.asyncProperty(anyBelow(original.length), async (place) => {
        const salvaged = await check(flipped(place));
        expect(salvaged?.report.graphs[0].keptNodes).toBeGreaterThanOrEqual(NODES - 512);
      }),
      { numRuns: samples(3, 10, 120) },
    );
  });

  test('of several stretches', async () => {
    const anyStretches = fc.array(anyFill(original.length, 600, fc.nat(255)), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(anyStretches, async (stretches) => {
        await check(stretches.reduce(damaged, original));
      }),
      { numRuns: samples(2, 6, 60) },
    );
  });

  test('by a cut keeps the columns before it', async () => {
    await fc.assert(
      fc.asyncProperty(anyCut(original.length), async (cut) => {
        await check(damaged(original, cut));
      }),
      { numRuns: samples(4, 6, 60) },
    );
    const { offset, storedLength } = section(SectionId.backPointers, 0);
    const salvaged = await check(original.subarray(0, offset + storedLength / 2));
    expect(salvaged?.report.graphs[0].keptNodes).toBe(NODES);
    expect(salvaged?.graphs[0]).toEqual(whole);
    const cutValues = original.subarray(0, section(SectionId.values, 0).offset + 10);
    const { report } = await salvageBytes(cutValues, { incomplete: 'keep' });
    expect(report.graphs[0]).toMatchObject({ keptNodes: NODES, incompleteNodes: NODES });
  });
});
