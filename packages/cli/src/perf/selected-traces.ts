// The traces a query selects, with their values by commit: of a range of commits, which is a stretch by hash or date or the newest ones, or of one
// tile. A day means all of it. Where there are no traces it is said why: a mistyped query must not pass for an answer.
import type { CommitRange, Params } from '@spanline/tracedb';
import { InvalidArgumentError } from 'commander';
import { options, type Values } from '../command.js';
import { ExitCode, endWith, wrongUsage } from '../exit-code.js';
import { isoTime, wholeNumber } from '../options.js';
import { note } from '../output.js';
import { type PerfSession, tileFor } from './perf-options.js';

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const LOOKS_LIKE_TIME = /^\d{4}-\d{2}-\d{2}/;
const DAY_MS = 86_400_000;

const bound =
  (isEnd: boolean) =>
  (text: string): string | Date => {
    if (!LOOKS_LIKE_TIME.test(text)) return text;
    const ms = isoTime(text);
    if (Number.isNaN(ms)) {
      throw new InvalidArgumentError('write a commit (its hash), a day (2026-01-31) or a time (2026-01-31T12:00:00Z).');
    }
    return new Date(isEnd && DAY.test(text) ? ms + DAY_MS - 1 : ms);
  };

/** The options of a range of commits. */
export const RANGE = options({
  from: ['--from <commit|date>', 'first commit by its hash, or the first day or time, of all tiles', bound(false)],
  to: ['--to <commit|date>', 'last commit by its hash, or the last day (all of it) or time', bound(true)],
  last: ['--last <commits>', 'only the newest commits (of the range), so many, of all tiles', wholeNumber(1)],
});

/** The range that was asked for; undefined where none was, so that a tile is meant. */
export const rangeOf = (
  { from, to, last }: Values<typeof RANGE>,
  tile: number | undefined,
): CommitRange | undefined => {
  if (from === undefined && to === undefined && last === undefined) return undefined;
  if (tile === undefined) return { from, to, last };
  throw wrongUsage('--tile is one tile, --from, --to and --last are commits of all tiles; give one kind');
};

/** A trace with its values. */
export interface SelectedTrace {
  readonly params: Params;
  /** The hash is undefined where nobody asked for it, or a value stands at a number that no commit has. */
  readonly points: readonly { readonly commit: number; readonly hash: string | undefined; readonly value: number }[];
}

type Batches = AsyncGenerator<readonly SelectedTrace[]>;

async function* ofTile({ perf, call }: PerfSession, tile: number, query: string, hasHashes: boolean): Batches {
  const first = tile * perf.config.tileSize;
  const range = { from: first, to: first + perf.config.tileSize - 1 };
  const commits = hasHashes ? await perf.commits.list(range, call) : [];
  const hashes = new Map(commits.map(({ number, hash }) => [number, hash]));
  for await (const batch of perf.query(tile, query, call)) {
    yield batch.map(({ params, values }) => ({
      params,
      points: Array.from(values, (value, i) => ({ commit: first + i, hash: hashes.get(first + i), value })).filter(
        ({ value }) => !Number.isNaN(value),
      ),
    }));
  }
}

async function* ofRange({ perf, call }: PerfSession, range: CommitRange, query: string): Batches {
  for await (const batch of perf.querySeries(query, { ...range, ...call })) {
    yield batch.map(({ params, commits, values }) => ({
      params,
      points: commits.map(({ number, hash }, i) => ({ commit: number, hash, value: values[i] as number })),
    }));
  }
}

/** The traces of a range, or where there is none of a tile, the newest unless another was asked for. */
export async function* selectedTraces(
  session: PerfSession,
  query: string,
  range: CommitRange | undefined,
  tileAsked: number | undefined,
  hasHashes = false,
): Batches {
  const tile = range === undefined ? await tileFor(session, tileAsked) : 0;
  const batches = range === undefined ? ofTile(session, tile, query, hasHashes) : ofRange(session, range, query);
  let count = 0;
  for await (const batch of batches) {
    count += batch.length;
    yield batch;
  }
  if (count > 0) return;
  await (range === undefined ? noteNothing(session, tile, query) : noteNothingIn(session, range, query));
}

/** Say why an answer is empty: a mistyped key looks the same as one without values. */
export const noteNothing = async ({ perf, call }: PerfSession, tile: number, query: string): Promise<void> => {
  endWith(ExitCode.findings);
  const plan = await perf.planOf(tile, query, call);
  note(plan.kind === 'empty' ? `tile ${tile}: ${plan.reason}` : `no trace of tile ${tile} meets the query`);
};

/** The same for a query of histories, by what the newest tile knows. */
export const noteNothingInNewest = async (session: PerfSession, query: string): Promise<void> =>
  noteNothing(session, await tileFor(session, undefined), query);

/** Say why a range has nothing, and end with 1: no commit, or no tile that knows the query; then each tile says what is near. */
const noteNothingIn = async ({ perf, call }: PerfSession, range: CommitRange, query: string): Promise<void> => {
  endWith(ExitCode.findings);
  const commits = await perf.commits.list(range, call);
  const newest = commits.at(-1);
  if (newest === undefined) {
    const all = await perf.commits.list({ last: 1 }, call);
    const isTimeless = all.length > 0 && all[0]?.timestampMs === undefined;
    note(`no commit in this range${isTimeless ? '; the newest commit of the store has no time: name commits' : ''}`);
    return;
  }
  const plan = await perf.planOf(perf.tileOf(newest.number), query, call);
  note(
    plan.kind === 'empty'
      ? `nothing in these ${commits.length} commits; in the newest tile of them: ${plan.reason}`
      : `no trace that meets the query has a value at these ${commits.length} commits`,
  );
};
