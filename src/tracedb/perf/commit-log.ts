// The commits a store knows, each with a number: traces are columns of these numbers. A hash must never get two numbers, and
// numbers only grow, in the order in which commits are made known.
import { CallDeadline } from '../params/call-deadline.js';
import { prefixEnd } from '../table/byte-order.js';
import type { CallOptions, Row, WideColumnTable } from '../table/wide-column-table.js';
import { TraceDbError } from '../tracedb-error.js';
import { COMMIT_PREFIX, CONFIG_KEY, commitHashKey, commitKey, FAMILIES } from './keys.js';

/** A commit to be made known. */
export interface CommitInfo {
  /** Git hash, or another id without white space, up to 200 characters. */
  readonly hash: string;
  /** When it was made, Unix milliseconds; undefined when nobody said. */
  readonly timestampMs?: number;
}

/** A commit of the store. */
export interface Commit extends CommitInfo {
  readonly number: number;
}

const FAMILY = FAMILIES.commit;
const JSON_COLUMN = 'J';
const COUNTER_COLUMN = 'N';
// Conditional writes on their way at a time: LMDB makes one transaction of them, Bigtable answers them side by side.
const PARALLEL = 64;
const CHUNK = 1000;

const chunks = function* <T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let i = 0; i < items.length; i += size) yield items.slice(i, i + size);
};

const checkHash = (hash: string): void => {
  if (typeof hash === 'string' && /^[^\s\0]{1,200}$/u.test(hash)) return;
  throw new TraceDbError(
    'ERR_SPANLINE_INVALID_INPUT',
    `commit ${JSON.stringify(hash)} must be 1 to 200 characters without white space, such as a git hash`,
  );
};

/** Commits by number and by hash. */
export class CommitLog {
  constructor(private readonly table: WideColumnTable) {}

  /** The numbers of these commits, in their order; those not known yet get the next ones, in their order. */
  async add(commits: readonly CommitInfo[], options?: CallOptions): Promise<readonly number[]> {
    for (const { hash } of commits) checkHash(hash);
    const deadline = new CallDeadline(`adding commits to ${this.table.location}`, options);
    const wanted = new Map(commits.map((commit) => [commit.hash, commit]));
    const numbers = new Map<string, number>();
    for (const hashes of chunks([...wanted.keys()], CHUNK)) {
      for (const { hash, number } of await this.readByHashes(hashes, deadline.next())) numbers.set(hash, number);
    }
    const known = [...numbers].map(([hash, number]) => ({ ...(wanted.get(hash) as CommitInfo), number }));
    const fresh = [...wanted.values()].filter(({ hash }) => !numbers.has(hash));
    const added = await this.number(fresh, deadline);
    for (const { hash, number } of added) numbers.set(hash, number);
    await this.writeByNumber(added, deadline);
    // A crash between the two rows of a commit leaves it without the second; whoever adds it again repairs it.
    await this.writeByNumber(await this.missingByNumber(known, deadline), deadline);
    return commits.map(({ hash }) => numbers.get(hash) as number);
  }

  /** The commits with numbers from `from` to `to` (both included), ascending. */
  async list(range: { readonly from?: number; readonly to?: number } = {}, options?: CallOptions): Promise<Commit[]> {
    const { from = 0, to } = range;
    const end = to === undefined ? prefixEnd(COMMIT_PREFIX)?.toString() : commitKey(to + 1);
    const commits: Commit[] = [];
    const selection = { start: commitKey(Math.max(0, from)), end };
    for await (const rows of this.table.readRows(selection, { ...options, families: [FAMILY] })) {
      for (const row of rows) commits.push(this.parse(row));
    }
    return commits;
  }

  /** The commit with this hash, or with the one hash that begins so. Rejects with `ERR_SPANLINE_NOT_FOUND` or, when several do, `ERR_SPANLINE_INVALID_INPUT`. */
  async find(hash: string, options?: CallOptions): Promise<Commit> {
    checkHash(hash);
    const found: Commit[] = [];
    const read = this.table.readRows({ prefix: commitHashKey(hash) }, { ...options, families: [FAMILY], limit: 2 });
    for await (const rows of read) for (const row of rows) found.push(this.parse(row));
    const [only] = found;
    if (only === undefined) {
      throw new TraceDbError(
        'ERR_SPANLINE_NOT_FOUND',
        `no commit ${hash} in ${this.table.location}; list commits with tiles list --commits`,
      );
    }
    if (found.length > 1 && only.hash !== hash) {
      throw new TraceDbError(
        'ERR_SPANLINE_INVALID_INPUT',
        `several commits begin with ${hash}; write more of the hash`,
      );
    }
    return only;
  }

  private async readByHashes(hashes: readonly string[], options: CallOptions): Promise<Commit[]> {
    const commits: Commit[] = [];
    const keys = hashes.map(commitHashKey);
    for await (const rows of this.table.readRows({ keys }, { ...options, families: [FAMILY] })) {
      for (const row of rows) commits.push(this.parse(row));
    }
    return commits;
  }

  /** Give numbers to commits; where another process was faster, its number stands and ours stays unused. */
  private async number(commits: readonly CommitInfo[], deadline: CallDeadline): Promise<Commit[]> {
    if (commits.length === 0) return [];
    const last = await this.table.incrementCell(CONFIG_KEY, FAMILY, COUNTER_COLUMN, commits.length, deadline.next());
    const first = last - commits.length;
    const numbered = commits.map((commit, i) => ({ ...commit, number: first + i }));
    const lost: string[] = [];
    for (const some of chunks(numbered, PARALLEL)) {
      await Promise.all(
        some.map(async (commit) => {
          if (!(await this.claim(commit, deadline.next()))) lost.push(commit.hash);
        }),
      );
    }
    if (lost.length === 0) return numbered;
    const theirs = new Map((await this.readByHashes(lost, deadline.next())).map((commit) => [commit.hash, commit]));
    return numbered.map((commit) => theirs.get(commit.hash) ?? commit);
  }

  private async claim(commit: Commit, options: CallOptions): Promise<boolean> {
    const cell = { family: FAMILY, qualifier: JSON_COLUMN };
    const otherwise = [this.cellOf(commit)];
    return !(await this.table.checkAndMutateRow(commitHashKey(commit.hash), cell, { otherwise }, options));
  }

  private async missingByNumber(commits: readonly Commit[], deadline: CallDeadline): Promise<Commit[]> {
    const present = new Set<string>();
    for (const some of chunks(commits, CHUNK)) {
      const keys = some.map(({ number }) => commitKey(number));
      for await (const found of this.table.readKeys({ keys }, deadline.next()))
        for (const key of found) present.add(key);
    }
    return commits.filter(({ number }) => !present.has(commitKey(number)));
  }

  private async writeByNumber(commits: readonly Commit[], deadline: CallDeadline): Promise<void> {
    for (const some of chunks(commits, CHUNK)) {
      const rows = some.map((commit) => ({ key: commitKey(commit.number), mutations: [this.cellOf(commit)] }));
      await this.table.mutateRows(rows, deadline.next());
    }
  }

  private cellOf({ hash, number, timestampMs }: Commit) {
    const value = Buffer.from(JSON.stringify({ hash, number, timestampMs }));
    return { type: 'set', family: FAMILY, qualifier: JSON_COLUMN, value, timestampMs: Date.now() } as const;
  }

  private parse({ key, cells }: Row): Commit {
    try {
      const commit = JSON.parse(Buffer.from(cells[0]?.value ?? []).toString()) as Commit;
      if (typeof commit.hash === 'string' && Number.isSafeInteger(commit.number)) return commit;
    } catch {
      // Falls through to the error that names the row.
    }
    throw new TraceDbError('ERR_SPANLINE_STORE_CORRUPT', `row ${key} of ${this.table.location} holds no commit`);
  }
}
