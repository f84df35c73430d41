// A sorted list of keys that answers as a dictionary must, and the comparison of both in all they can be asked.

import { expect } from 'vitest';
import type { Dictionary, RangeQuery } from '../../../src/dictionary/dictionary.js';
import type { DictionaryEntry } from '../../../src/dictionary/dictionary-queries.js';

/** Entries as plain values, so that a failure can be read. */
export const shown = (entry: DictionaryEntry | undefined): string =>
  entry === undefined ? 'none' : `${entry.key.toString('hex')} ${entry.rank} ${entry.ordinals.join(',')}`;

export class Model {
  readonly entries: readonly DictionaryEntry[];
  private readonly byKey: ReadonlyMap<string, DictionaryEntry>;

  constructor(keys: readonly Buffer[], ordinalsOf: (rank: number) => readonly number[] = (rank) => [rank]) {
    this.entries = keys.map((key, rank) => ({ key, rank, ordinals: ordinalsOf(rank) }));
    this.byKey = new Map(this.entries.map((entry) => [entry.key.toString('latin1'), entry]));
  }

  lookup(key: Buffer): DictionaryEntry | undefined {
    return this.byKey.get(key.toString('latin1'));
  }

  range(query: RangeQuery): readonly DictionaryEntry[] {
    return this.entries.filter(({ key }) => {
      if ('prefix' in query) return key.subarray(0, query.prefix.length).equals(query.prefix);
      return !(
        (query.start !== undefined && Buffer.compare(key, query.start) < 0) ||
        (query.end !== undefined && Buffer.compare(key, query.end) >= 0)
      );
    });
  }
}

/** Ask both everything, about `asked` keys and their ranges; `inOrder` shuffles questions, and may leave some out. */
export const expectSame = async (
  dictionary: Dictionary,
  model: Model,
  asked: readonly Buffer[],
  inOrder: <T>(items: T[]) => T[],
): Promise<void> => {
  const { entries } = model;
  expect(dictionary.keyCount).toBe(entries.length);
  expect(dictionary.keyBytes).toBe(entries.reduce((sum, { key }) => sum + key.length, 0));
  const questions = inOrder([...asked, ...entries.map(({ key }) => key)]);
  const answers = questions.map((key) => shown(model.lookup(key)));
  expect(questions.map((key) => shown(dictionary.lookupSync(key)))).toEqual(answers);
  expect((await Promise.all(questions.map((key) => dictionary.lookup(key)))).map(shown)).toEqual(answers);
  expect((await dictionary.lookupMany(questions)).map(shown)).toEqual(answers);
  expect(dictionary.lookupManySync(questions).map(shown)).toEqual(answers);
  expect(questions.every((key, i) => answers[i] === 'none' || dictionary.mayHave(key))).toBe(true);

  const ranks = inOrder(entries.map(({ rank }) => rank));
  const keys = ranks.map((rank) => entries[rank].key.toString('hex'));
  expect((await dictionary.keysAt(ranks)).map((key) => key.toString('hex'))).toEqual(keys);
  expect(dictionary.keysAtSync(Uint32Array.from(ranks)).map((key) => key.toString('hex'))).toEqual(keys);

  for (const table of [await dictionary.allKeys(), dictionary.allKeysSync()]) {
    expect(Buffer.from(table.bytes).equals(Buffer.concat(entries.map(({ key }) => key)))).toBe(true);
    expect(entries.every(({ key, rank }) => table.offsets[rank + 1] - table.offsets[rank] === key.length)).toBe(true);
  }

  const prefixes = asked.slice(0, 6);
  const queries: RangeQuery[] = [
    {},
    { prefix: Buffer.alloc(0) },
    ...prefixes.map((prefix) => ({ prefix })),
    ...prefixes.map((start, i) => ({ start, end: prefixes[prefixes.length - 1 - i] })),
    ...prefixes.slice(0, 2).flatMap((key) => [{ start: key }, { end: key }]),
  ];
  for (const query of queries) {
    const expected = model.range(query).map(shown);
    const batches: DictionaryEntry[][] = [];
    for await (const batch of dictionary.range(query)) batches.push(batch);
    expect(batches.flat().map(shown)).toEqual(expected);
    expect([...dictionary.rangeSync(query)].flat().map(shown)).toEqual(expected);
    expect(batches.every(({ length }) => length > 0)).toBe(true);
  }
  const byPrefix = prefixes.map((prefix) => model.range({ prefix }).map(shown));
  expect((await dictionary.lookupPrefixes(prefixes)).map((list) => list.map(shown))).toEqual(byPrefix);
  expect(dictionary.lookupPrefixesSync(prefixes).map((list) => list.map(shown))).toEqual(byPrefix);
};
