// Whatever is written in whatever order, reads give what a plain map of cells would.

import { describe, expect, test } from 'vitest';
import fc from '../../../../../test/support/fast-check.js';
import { samples } from '../../../../../test/support/samples.js';
import type { Mutation, ReadOptions, RowMutation, RowSelection } from '../../../src/table/wide-column-table.js';
import { byBytes, keys, lines, rowText, type Tables } from './suite.js';

const FAMILIES = ['V', 'S'];
const LONG = 'L'.repeat(3000);

const text = (...parts: string[]) =>
  fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 3 }).map((found) => found.join(''));
const aKey = text('a', 'b', ':', '\x01', 'é', '\uffff', '\u{10000}', LONG).filter((key) => key.length <= 4096);
const aQualifier = fc.constantFrom('', '0', '1', '10', '.', '\u{10000}', '\uffff');
// Long ones too, of which an engine that keeps cells together must make more than one piece.
const aValue = fc.oneof(
  { weight: 4, arbitrary: fc.uint8Array({ maxLength: 9 }) },
  { weight: 1, arbitrary: fc.integer({ min: 600, max: 2600 }).map((length) => new Uint8Array(length).fill(length)) },
);
const aFamily = fc.constantFrom(...FAMILIES);
const aMutation: fc.Arbitrary<Mutation> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('set' as const),
      family: aFamily,
      qualifier: aQualifier,
      value: aValue,
      timestampMs: fc.integer({ min: 0, max: 5 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('delete-cell' as const), family: aFamily, qualifier: aQualifier }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('delete-row' as const) }) },
);
/** Changes to one row. */
export const aRow: fc.Arbitrary<RowMutation> = fc.record({
  key: aKey,
  mutations: fc.array(aMutation, { minLength: 1, maxLength: 4 }),
});
/** Rows to read. */
export const aSelection: fc.Arbitrary<RowSelection> = fc.oneof(
  fc.record({ keys: fc.array(aKey, { maxLength: 5 }) }),
  fc.record({ prefix: fc.oneof(fc.constant(''), aKey) }),
  fc.record({ start: fc.option(aKey, { nil: undefined }), end: fc.option(aKey, { nil: undefined }) }),
);
/** What to read of them. */
export const someOptions: fc.Arbitrary<ReadOptions> = fc.record(
  {
    families: fc.subarray(FAMILIES),
    qualifiers: fc.array(aQualifier, { maxLength: 3 }),
    limit: fc.integer({ min: 0, max: 4 }),
  },
  { requiredKeys: [] },
);

/** The cells of each row. */
export type Model = Map<string, Map<string, Extract<Mutation, { type: 'set' }>>>;

/** Change the model. */
export const apply = (model: Model, { key, mutations }: RowMutation): void => {
  const cells = model.get(key) ?? new Map();
  model.set(key, cells);
  for (const mutation of mutations) {
    if (mutation.type === 'delete-row') cells.clear();
    else {
      const name = `${mutation.family}:${mutation.qualifier}`;
      if (mutation.type === 'delete-cell') cells.delete(name);
      else if ((cells.get(name)?.timestampMs ?? -1) <= mutation.timestampMs) cells.set(name, mutation);
    }
  }
};

const isSelected = (selection: RowSelection, key: string): boolean => {
  if ('keys' in selection) return selection.keys.includes(key);
  if ('prefix' in selection) return key.startsWith(selection.prefix);
  const { start, end } = selection;
  return (start === undefined || byBytes(key, start) >= 0) && (end === undefined || byBytes(key, end) < 0);
};

/** What a read should give, as lines of text. */
export const expected = (
  model: Model,
  selection: RowSelection,
  { families, qualifiers, limit }: ReadOptions,
): string[] => {
  const rows = [...model]
    .filter(([key]) => isSelected(selection, key))
    .sort(([a], [b]) => byBytes(a, b))
    .map(([key, cells]) => ({
      key,
      cells: [...cells.values()]
        .filter(({ family }) => families === undefined || families.includes(family))
        .filter(({ qualifier }) => qualifiers === undefined || qualifiers.includes(qualifier))
        .sort((a, b) => byBytes(a.family, b.family) || byBytes(a.qualifier, b.qualifier)),
    }))
    .filter(({ cells }) => cells.length > 0);
  return rows.slice(0, limit).map(rowText);
};

export const model = ({ open }: Tables): void => {
  describe('against a plain map', () => {
    test('random writes and reads agree', async () => {
      const calls = fc.array(fc.array(aRow, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 });
      const reads = fc.array(fc.tuple(aSelection, someOptions), { minLength: 1, maxLength: 6 });
      await fc.assert(
        fc.asyncProperty(calls, reads, async (writes, asked) => {
          const table = await open(FAMILIES);
          const plain: Model = new Map();
          for (const rows of writes) {
            await table.mutateRows(rows);
            for (const mutation of rows) apply(plain, mutation);
          }
          expect(await lines(table)).toEqual(expected(plain, { prefix: '' }, {}));
          for (const [selection, options] of asked) {
            const wanted = expected(plain, selection, options);
            expect(await lines(table, selection, options)).toEqual(wanted);
            expect((await keys(table, selection, options)).length).toBe(wanted.length);
          }
          await table.close();
        }),
        { numRuns: samples(15, 60, 600) },
      );
    });
  });
};
