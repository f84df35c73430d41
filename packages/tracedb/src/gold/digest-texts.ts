// What digests are, as text that people can read, kept by digest: the options of a trace tell only what it is now. Equal digests have one text.
import type { CallDeadline } from '../params/call-deadline.js';
import { setCell, textOf } from '../table/cells.js';
import type { RowMutation, WideColumnTable } from '../table/wide-column-table.js';
import { MISSING_DIGEST } from './digest.js';
import type { GoldEntry } from './gold-entry.js';
import { OPTIONS_FAMILY, TEXT_COLUMN, textRowKey } from './gold-keys.js';

/** The rows of the texts that entries bring, each once. */
export const textRows = (entries: readonly GoldEntry[], timestampMs: number): RowMutation[] => {
  const rows = new Map<string, RowMutation>();
  for (const { digest, text } of entries) {
    if (text === undefined || digest === MISSING_DIGEST) continue;
    const key = textRowKey(digest);
    rows.set(key, { key, mutations: [setCell(OPTIONS_FAMILY, TEXT_COLUMN, text, timestampMs)] });
  }
  return [...rows.values()];
};

/** The texts of digests; those that nobody brought are absent. */
export const readTexts = async (
  table: WideColumnTable,
  digests: readonly string[],
  deadline: CallDeadline,
): Promise<ReadonlyMap<string, string>> => {
  const byKey = new Map(digests.map((digest) => [textRowKey(digest), digest]));
  const found = new Map<string, string>();
  if (byKey.size === 0) return found;
  const read = { ...deadline.next(), families: [OPTIONS_FAMILY] };
  for await (const rows of table.readRows({ keys: [...byKey.keys()] }, read)) {
    for (const { key, cells } of rows) {
      const text = textOf(cells, TEXT_COLUMN);
      if (text !== undefined) found.set(byKey.get(key) as string, text);
    }
  }
  return found;
};
