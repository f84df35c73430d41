// What is known of the commits of a Gold store beside their numbers: hash and time, where whoever put results said it.
import type { CallDeadline } from '../params/call-deadline.js';
import type { CommitInfo } from '../perf/commit-log.js';
import { setCell, textOf, valueOfJson } from '../table/cells.js';
import type { RowMutation, WideColumnTable } from '../table/wide-column-table.js';
import { storeCorrupt } from '../tracedb-error.js';
import { COMMIT_COLUMN, commitRowKey, OPTIONS_FAMILY } from './gold-keys.js';
import { textIn, toMs } from './values.js';

const MAX_HASH = 256;

/** A commit as it is stored. Throws `ERR_SPANLINE_INVALID_INPUT`. */
export const checkedInfo = ({ hash, timestampMs }: CommitInfo): CommitInfo => ({
  hash: textIn('commitInfo.hash', hash, 1, MAX_HASH),
  ...(timestampMs !== undefined && { timestampMs: toMs('commitInfo.timestampMs', timestampMs) }),
});

/** The row that says what is known of a commit. */
export const infoRow = (commit: number, info: CommitInfo, timestampMs: number): RowMutation => ({
  key: commitRowKey(commit),
  mutations: [setCell(OPTIONS_FAMILY, COMMIT_COLUMN, JSON.stringify(info), timestampMs)],
});

const parse = (text: string | undefined, key: string): CommitInfo => {
  const { hash, timestampMs } = (valueOfJson(text) ?? {}) as Partial<CommitInfo>;
  if (typeof hash === 'string' && (timestampMs === undefined || Number.isSafeInteger(timestampMs)))
    return { hash, ...(timestampMs !== undefined && { timestampMs }) };
  throw storeCorrupt(`row ${key} holds no commit; put its results again`);
};

/** What is known of these commits, by number. */
export const readInfos = async (
  table: WideColumnTable,
  commits: readonly number[],
  deadline: CallDeadline,
): Promise<ReadonlyMap<number, CommitInfo>> => {
  const byKey = new Map(commits.map((commit) => [commitRowKey(commit), commit]));
  const found = new Map<number, CommitInfo>();
  if (byKey.size === 0) return found;
  const read = { ...deadline.next(), families: [OPTIONS_FAMILY] };
  for await (const rows of table.readRows({ keys: [...byKey.keys()] }, read)) {
    for (const { key, cells } of rows) found.set(byKey.get(key) as number, parse(textOf(cells, COMMIT_COLUMN), key));
  }
  return found;
};
