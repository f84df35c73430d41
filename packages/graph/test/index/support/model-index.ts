// Indices as plain maps, made at random, and the same in files.

import fc from '../../../../../test/support/fast-check.js';
import { BufferSink } from '../../../src/container/container-writer.js';
import { GraphIndex, GraphIndexBuilder } from '../../../src/index/graph-index.js';
import type { FoundAncestry, IndexEntry } from '../../../src/index/readable-index.js';
import type { TupleKey, TuplePrefix } from '../../../src/index/tuple-key.js';

/** Value and references of each key, which is named by its JSON text. */
export type ModelIndex = ReadonlyMap<string, { readonly value: string; readonly references: readonly string[][] }>;

export const LISTS = 2;
const ELEMENTS = ['a', 'b', 'ab', 'é', '😀', '\x01', 'b\x01'];

export const anyKey: fc.Arbitrary<TupleKey> = fc.tuple(fc.constantFrom(...ELEMENTS), fc.constantFrom(...ELEMENTS));
const anyName = anyKey.map((key) => JSON.stringify(key));

/** Any key may refer to any, itself included; those that are not keys are missing. */
export const anyIndex: fc.Arbitrary<ModelIndex> = fc
  .dictionary(
    anyName,
    fc.record({
      value: fc.string({ maxLength: 5 }),
      references: fc.array(fc.uniqueArray(anyName, { maxLength: 3 }), { minLength: LISTS, maxLength: LISTS }),
    }),
    { maxKeys: 20 },
  )
  .map((index) => new Map(Object.entries(index)));

const tuple = (name: string): TupleKey => JSON.parse(name) as TupleKey;
export const named = (key: TupleKey): string => JSON.stringify(key);

export const entriesOf = (model: ModelIndex): IndexEntry[] =>
  Array.from(model, ([name, { value, references }]) => ({
    key: tuple(name),
    value: Buffer.from(value),
    references: references.map((list) => list.map(tuple)),
  }));

/** The bytes of an index file. */
export const buildBytes = async (
  entries: Iterable<IndexEntry>,
  options: { readonly referenceLists?: number; readonly keyElements?: number } = {},
): Promise<Buffer> => {
  const sink = new BufferSink();
  const builder = new GraphIndexBuilder(sink, { referenceLists: LISTS, keyElements: 2, ...options });
  builder.addNodes(entries);
  await builder.finish();
  return sink.toBuffer();
};

export const buildIndex = async (model: ModelIndex): Promise<GraphIndex> =>
  GraphIndex.open(await buildBytes(entriesOf(model)));

/** Several indices as one: what an earlier one has stands. */
export const combined = (models: readonly ModelIndex[]): ModelIndex =>
  new Map([...models].reverse().flatMap((m) => [...m]));

/** What an index says, to be compared with a model. A key that comes twice is an error. */
export const collect = async (entries: AsyncIterable<IndexEntry>): Promise<ModelIndex> => {
  const found = new Map<string, { value: string; references: string[][] }>();
  for await (const { key, value, references } of entries) {
    if (found.has(named(key))) throw new Error(`${named(key)} came twice`);
    found.set(named(key), {
      value: Buffer.from(value).toString(),
      references: references.map((list) => list.map(named)),
    });
  }
  return found;
};

/** The part of a model with these keys. */
export const restricted = (model: ModelIndex, isIn: (key: TupleKey) => boolean): ModelIndex =>
  new Map([...model].filter(([name]) => isIn(tuple(name))));

export const startsWith = (key: TupleKey, prefix: TuplePrefix): boolean =>
  prefix.every((element, i) => element === null || element === key[i]);

/** Parents of all that can be reached, and what is missing. */
export const modelAncestry = (model: ModelIndex, starts: readonly TupleKey[], list: number) => {
  const seen = new Set(starts.map(named));
  for (const name of seen) for (const target of model.get(name)?.references[list] ?? []) seen.add(target);
  const here = [...seen].filter((name) => model.has(name)).sort();
  return {
    parentMap: here.map((name) => [name, model.get(name)?.references[list]]),
    missing: [...seen].filter((name) => !model.has(name)).sort(),
  };
};

/** A found ancestry in the form of the model's. */
export const shownAncestry = ({ parentMap, missing }: FoundAncestry) => ({
  parentMap: Array.from(parentMap, ([key, parents]): [string, string[]] => [named(key), parents.map(named)]).sort(
    ([a], [b]) => (a < b ? -1 : 1),
  ),
  missing: [...missing].map(named).sort(),
});

/** What list `list` refers to that the model does not have. */
export const modelExternal = (model: ModelIndex, list: number): string[] =>
  [...new Set([...model.values()].flatMap(({ references }) => references[list]))]
    .filter((name) => !model.has(name))
    .sort();
