// Golden on a store with shapes of traces: a query that became twenty at commit 4, the shape before judged right.
import { join } from 'node:path';
import { GOLD_SCHEMA, GoldStore, openTable } from '../../../tracedb/src/index.js';

export const OLD = '0cc175b9c0f1b6a831c399e269772661';
export const NEW = '92eb5ffee6ae2fec3ad71c777531578f';
/** What must only ever be text. */
export const HOSTILE = '<img src=x onerror="document.title=\'owned\'">';

/** A store in a directory; who makes it closes its table. */
export const makeGolden = async (directory: string): Promise<GoldStore> => {
  const gold = await GoldStore.open(await openTable(join(directory, 'gold'), GOLD_SCHEMA));
  for (let commit = 0; commit < 6; commit++) {
    const digest = commit < 4 ? OLD : NEW;
    const text = `GET /users\n  SELECT users ×${commit < 4 ? 1 : 20}\n  ${HOSTILE}`;
    const params = { name: 'list-users', kind: 'trace-shape' };
    const commitInfo = { hash: `${commit}`.repeat(40), timestampMs: Date.UTC(2026, 0, 1 + commit) };
    await gold.put(commit, [{ params, digest, text }], commit + 1, commit === 5 ? {} : { commitInfo });
  }
  await gold.expectations.triage([{ test: 'list-users', digest: OLD, status: 'positive' }], { by: 'ada' });
  return gold;
};
