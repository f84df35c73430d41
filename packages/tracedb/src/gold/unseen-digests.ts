// Which digests a store never saw for a test: a triage of a mistyped test would otherwise be kept, and tell nobody. Reads tile by tile, the
// newest first, until all are found; must not read a tile whose param set does not have the test.
import { getOrMake } from 'spanline/internal/base';
import { quoted } from '../params/param-text.js';
import { didYouMean } from '../query/known-query.js';
import type { CallOptions } from '../table/wide-column-table.js';
import { DEFAULT_TEST_KEY } from './blame.js';
import type { TestDigest } from './expectations.js';
import type { GoldStore } from './gold-store.js';

/** What a store does not have of what was asked for, with names that are near. */
export interface UnseenDigest extends TestDigest {
  /** For a person: `the store has no test "cirlce"; did you mean "circle"?` */
  readonly reason: string;
}

/**
 * Those of `wanted` that no trace of the test ever had; the test is the value of the param `testKey`, "name" by default. Ask before a
 * triage by hand: `expectations.triage` takes any name, for expectations may come before results.
 *
 * @example
 * ```ts
 * import { GOLD_SCHEMA, GoldStore, openTable, unseenDigests } from '@spanline/tracedb';
 *
 * const table = await openTable('./gold-unseen', GOLD_SCHEMA);
 * const gold = await GoldStore.open(table);
 * const digest = '0cc175b9c0f1b6a831c399e269772661';
 * await gold.put(7, [{ params: { name: 'circle' }, digest }], Date.now());
 * const [unseen] = await unseenDigests(gold, [{ test: 'cirlce', digest }]);
 * console.assert(unseen.reason.includes('did you mean "circle"?'));
 * await table.close();
 * ```
 */
export const unseenDigests = async (
  store: GoldStore,
  wanted: readonly TestDigest[],
  options: CallOptions & { readonly testKey?: string } = {},
): Promise<readonly UnseenDigest[]> => {
  const { testKey = DEFAULT_TEST_KEY, ...call } = options;
  const left = new Map<string, Set<string>>();
  for (const { test, digest } of wanted) getOrMake(left, test, () => new Set()).add(digest);
  const tests = new Set<string>();
  for await (const tile of store.tiles(call)) {
    const here = (await store.orderedParamSet(tile, call)).values(testKey);
    for (const test of here) tests.add(test);
    if (!here.some((test) => (left.get(test)?.size ?? 0) > 0)) continue;
    for await (const batch of store.traces(tile, call)) {
      for (const { params, digests } of batch) {
        const missing = left.get(params[testKey] ?? '');
        if (missing !== undefined) for (const digest of digests) missing.delete(digest);
      }
    }
    if ([...left.values()].every(({ size }) => size === 0)) return [];
  }
  const names = [...tests];
  const hints = new Map<string, string>();
  const hintOf = (test: string): string => getOrMake(hints, test, () => didYouMean(test, names));
  return wanted
    .filter(({ test, digest }) => left.get(test)?.has(digest) === true)
    .map(({ test, digest }) => ({
      test,
      digest,
      reason: tests.has(test)
        ? `the test ${quoted(test)} never gave the digest ${digest}`
        : `the store has no test ${quoted(test)}${hintOf(test)}`,
    }));
};
