// What a digest is held against: what its traces had before, and the closest of those that people said something of. How far two are apart is told by the
// lines that only one of both has; without texts nothing is close.
import {
  type ClosestDigests,
  type DigestDistance,
  digestChanges,
  type GoldStore,
  type TriageStatus,
} from '@spanline/tracedb';
import type { ReferenceDigest } from './answers.js';

/** A caller that may go away. */
interface Asked {
  readonly signal: AbortSignal;
}

const countLines = (text: string): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const line of text.split('\n')) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
};

/** Lines that only one of two texts has. */
const differingLines = (a: string, b: string): number => {
  const counts = countLines(a);
  for (const [line, count] of countLines(b)) counts.set(line, (counts.get(line) ?? 0) - count);
  return [...counts.values()].reduce((sum, count) => sum + Math.abs(count), 0);
};

/** The distance of digests of a store by their texts. */
export const textDistance = (store: GoldStore, call: Asked): DigestDistance => {
  const texts = new Map<string, Promise<string | undefined>>();
  const textOf = (digest: string): Promise<string | undefined> => {
    const known = texts.get(digest) ?? store.texts([digest], call).then((found) => found.get(digest));
    texts.set(digest, known);
    return known;
  };
  return async (digest, reference) => {
    const [own, other] = await Promise.all([textOf(digest), textOf(reference)]);
    return own === undefined || other === undefined ? undefined : differingLines(own, other);
  };
};

/** The digest that traces of the test had when they took on `digest` last. */
const before = async (
  store: GoldStore,
  query: string,
  { test, digest }: { readonly test: string; readonly digest: string },
  commits: number,
  call: Asked & { readonly last?: number },
): Promise<{ readonly digest: string; readonly status: TriageStatus } | undefined> => {
  const { commits: changed } = await digestChanges(store, commits, { query, ignored: 'include' }, call);
  const changes = changed.flatMap((one) => one.changes);
  return changes.find((change) => change.test === test && change.digest === digest && change.before)?.before;
};

/** What to hold a digest of a test against, the most telling first; `query` selects the test. */
export const referencesOf = async (
  store: GoldStore,
  query: string,
  found: { readonly test: string; readonly digest: string; readonly closest?: ClosestDigests },
  commits: number,
  call: Asked & { readonly last?: number },
): Promise<ReferenceDigest[]> => {
  const was = await before(store, query, found, commits, call);
  const { positive, negative } = found.closest ?? {};
  const named = [
    { ...was, role: 'before' as const },
    { digest: positive?.digest, status: 'positive' as const, role: 'closest positive' as const },
    { digest: negative?.digest, status: 'negative' as const, role: 'closest negative' as const },
  ];
  const byDigest = new Map<string, ReferenceDigest>();
  for (const { digest, status = 'untriaged', role } of named) {
    if (digest === undefined) continue;
    const known = byDigest.get(digest);
    byDigest.set(digest, { digest, status, roles: [...(known?.roles ?? []), role] });
  }
  const texts = await store.texts([...byDigest.keys()], { signal: call.signal });
  return [...byDigest.values()].map((one) => {
    const text = texts.get(one.digest);
    return { ...one, ...(text !== undefined && { text }) };
  });
};
