// The commits a store knows, each with a number: traces are columns of these numbers. A hash must never get two numbers, and
// numbers have the order in which commits are made known: those of one call stand in its order, however many processes add.
//
// One row holds the next number and the commits that got the last ones. Whoever adds commits moves it on the condition that nobody
// moved it since, and so numbers all of them at once; only then it writes their own rows. What a crash leaves unwritten is still in
// that row, and whoever adds next writes it first.
import { chunks, timers, wholeNumber } from 'spanline/internal/base';
import { CallDeadline, retryConflicts } from '../params/call-deadline.js';
import { changeRowIfSame, prefixEnd, setCell, textOf, valueOfJson } from '../table/cells.js';
import type { CallOptions, ReadOptions, Row, RowSelection, WideColumnTable } from '../table/wide-column-table.js';
import { MAX_TILE } from '../tile.js';
import { invalidInput, storeCorrupt, TraceDbError } from '../tracedb-error.js';
import { COMMIT_PREFIX, CONFIG_KEY, commitHashKey, commitKey, FAMILIES } from './keys.js';

/** A commit to be made known. */
export interface CommitInfo {
  /** Git hash, or another id without white space, up to 256 characters. */
  readonly hash: string;
  /** When it was made, Unix milliseconds; undefined when nobody said. */
  readonly timestampMs?: number;
}

/** A commit of the store. */
export interface Commit extends CommitInfo {
  readonly number: number;
}

/** A commit by number, by hash (or the beginning of one), or the commits from or up to a time. */
export type CommitBound = number | string | Date;

/** Some of the commits of a store. */
export interface CommitRange {
  /** The first and the last of them, both included. Default: all. Commits without a time are in no range of times. */
  readonly from?: CommitBound;
  readonly to?: CommitBound;
  /** Of these only so many, those with the highest numbers. */
  readonly last?: number;
}

const FAMILY = FAMILIES.commit;
const JSON_COLUMN = 'J';
const NEXT_COLUMN = 'N';
const LAST_COLUMN = 'L';
// Commits that get their numbers at once: as JSON some hundred kilobytes at most.
const CHUNK = 1000;

/** Where a range begins or ends. */
interface Bound {
  readonly number: number;
  readonly ms: number;
}

const ALWAYS: Readonly<Record<'from' | 'to', Bound>> = {
  from: { number: 0, ms: Number.NEGATIVE_INFINITY },
  to: { number: Number.POSITIVE_INFINITY, ms: Number.POSITIVE_INFINITY },
};

const said = (bound: CommitBound | undefined): string =>
  bound instanceof Date ? bound.toISOString() : typeof bound === 'number' ? `commit ${bound}` : String(bound);

/** The row that says which number is next. */
interface Tail {
  /** Text of the cell with the next number; undefined: nobody added a commit yet. */
  readonly text: string | undefined;
  readonly next: number;
  /** The commits that got the last numbers; a crash may have left them without rows of their own. */
  readonly last: readonly Commit[];
  readonly timestampMs: number;
}

const checkHash = (hash: string): void => {
  if (typeof hash === 'string' && /^[^\s\0]{1,256}$/u.test(hash)) return;
  throw invalidInput(
    `commit ${JSON.stringify(hash)} must be 1 to 256 characters without white space, such as a git hash`,
  );
};

const isCommit = (value: unknown): value is Commit => {
  const { hash, number } = (value ?? {}) as Partial<Commit>;
  return typeof hash === 'string' && Number.isSafeInteger(number);
};

const check = ({ hash, timestampMs }: CommitInfo): void => {
  checkHash(hash);
  if (timestampMs === undefined || Number.isSafeInteger(timestampMs)) return;
  throw invalidInput(`timestampMs of commit ${hash} must be whole milliseconds, not ${String(timestampMs)}`);
};

/** Commits by number and by hash. */
export class CommitLog {
  /** Every commit with a lower number is known to have its rows. */
  #completeTo = 0;

  readonly #table: WideColumnTable;

  constructor(table: WideColumnTable) {
    this.#table = table;
  }

  /**
   * The numbers of these commits, in their order; those not known yet get the next ones, in their order. Rejects with
   * `ERR_SPANLINE_CONFLICT` when others kept adding commits for 64 attempts.
   */
  async add(commits: readonly CommitInfo[], options?: CallOptions): Promise<readonly number[]> {
    commits.forEach(check);
    const deadline = new CallDeadline(`adding commits to ${this.#table.location}`, options);
    const wanted = new Map<string, CommitInfo>();
    for (const commit of commits) if (!wanted.has(commit.hash)) wanted.set(commit.hash, commit);
    const numbers = new Map<string, number>();
    for (const some of chunks([...wanted.values()], CHUNK)) {
      for (const { hash, number } of await this.#numbered(some, deadline)) numbers.set(hash, number);
    }
    return commits.map(({ hash }) => numbers.get(hash) as number);
  }

  /** The commits of a range (all without one), ascending by number. */
  async list(range: CommitRange = {}, options?: CallOptions): Promise<Commit[]> {
    const { last } = range;
    if (last !== undefined) wholeNumber('last', last, [1], invalidInput);
    const deadline = new CallDeadline(`listing commits of ${this.#table.location}`, options);
    const from = await this.#boundOf('from', range.from, deadline);
    const to = await this.#boundOf('to', range.to, deadline);
    // Numbers are computed, and a range of none is none; what a person names in the wrong order is a mistake.
    const isNamed = typeof range.from !== 'number' || typeof range.to !== 'number';
    if (isNamed && (from.number > to.number || from.ms > to.ms)) {
      throw invalidInput(`${said(range.from)} comes after ${said(range.to)}; name the older one first`);
    }
    const end = to.number >= MAX_TILE ? prefixEnd(COMMIT_PREFIX)?.toString() : commitKey(to.number + 1);
    const all = await this.#read({ start: commitKey(Math.max(0, from.number)), end }, deadline.next());
    const isTimed = from.ms !== ALWAYS.from.ms || to.ms !== ALWAYS.to.ms;
    const commits = isTimed
      ? all.filter(({ timestampMs = Number.NaN }) => timestampMs >= from.ms && timestampMs <= to.ms)
      : all;
    return last === undefined ? commits : commits.slice(-last);
  }

  /** The commit with this hash, or with the one hash that begins so. Rejects with `ERR_SPANLINE_NOT_FOUND` or, when several do, `ERR_SPANLINE_INVALID_INPUT`. */
  async find(hash: string, options?: CallOptions): Promise<Commit> {
    checkHash(hash);
    const found = await this.#read({ prefix: commitHashKey(hash) }, { ...options, limit: 2 });
    const [only] = found;
    if (only === undefined) {
      throw new TraceDbError(
        'ERR_SPANLINE_NOT_FOUND',
        `no commit ${hash} in ${this.#table.location}; spanline perf commits lists them`,
      );
    }
    if (found.length > 1 && only.hash !== hash) {
      throw invalidInput(`several commits begin with ${hash}; write more of the hash`);
    }
    return only;
  }

  /** What a bound means, as a number and as a time; the one that it does not name bounds nothing. */
  async #boundOf(side: 'from' | 'to', bound: CommitBound | undefined, deadline: CallDeadline): Promise<Bound> {
    const none = ALWAYS[side];
    if (bound === undefined) return none;
    if (typeof bound === 'string') return { ...none, number: (await this.find(bound, deadline.next())).number };
    if (bound instanceof Date && !Number.isNaN(bound.getTime())) return { ...none, ms: bound.getTime() };
    if (Number.isInteger(bound) || Math.abs(bound as number) === Number.POSITIVE_INFINITY) {
      return { ...none, number: bound as number };
    }
    throw invalidInput(`${side} must be the number or the hash of a commit, or a Date, not ${String(bound)}`);
  }

  /** The commits behind these, of which unknown ones are added. */
  async #numbered(wanted: readonly CommitInfo[], deadline: CallDeadline): Promise<readonly Commit[]> {
    const known = await this.#timed(await this.#readByHashes(wanted, deadline), wanted, deadline);
    if (known.length === wanted.length) return known;
    return retryConflicts(
      `the list of commits of ${this.#table.location}`,
      async () => {
        const tail = await this.#readTail(deadline);
        await this.#completeRows(tail, deadline);
        // Every number below the tail's has its rows now, so what is not found has none.
        const found = await this.#readByHashes(wanted, deadline);
        const hashes = new Set(found.map(({ hash }) => hash));
        const fresh = wanted.filter(({ hash }) => !hashes.has(hash));
        if (fresh.length === 0) return found;
        const added = fresh.map(({ hash, timestampMs }, i) => ({ hash, number: tail.next + i, timestampMs }));
        if (!(await this.#moveTail(tail, added, deadline))) return undefined;
        await this.#writeRows(added, deadline);
        this.#completeTo = tail.next + added.length;
        return [...found, ...added];
      },
      deadline,
    );
  }

  /** These commits, with the times that nobody had said before; those are written, and never changed again. */
  async #timed(known: Commit[], wanted: readonly CommitInfo[], deadline: CallDeadline): Promise<Commit[]> {
    const times = new Map(wanted.map(({ hash, timestampMs }) => [hash, timestampMs]));
    const fresh: Commit[] = [];
    const all = known.map((commit) => {
      const timestampMs = commit.timestampMs ?? times.get(commit.hash);
      if (timestampMs === commit.timestampMs) return commit;
      const timed = { ...commit, timestampMs };
      fresh.push(timed);
      return timed;
    });
    if (fresh.length > 0) await this.#writeRows(fresh, deadline);
    return all;
  }

  #readByHashes(wanted: readonly CommitInfo[], deadline: CallDeadline): Promise<Commit[]> {
    return this.#read({ keys: wanted.map(({ hash }) => commitHashKey(hash)) }, deadline.next());
  }

  async #read(selection: RowSelection, options: ReadOptions): Promise<Commit[]> {
    const commits: Commit[] = [];
    for await (const rows of this.#table.readRows(selection, { ...options, families: [FAMILY] })) {
      for (const row of rows) commits.push(this.#parse(row));
    }
    return commits;
  }

  async #readTail(deadline: CallDeadline): Promise<Tail> {
    const filter = { families: [FAMILY], qualifiers: [NEXT_COLUMN, LAST_COLUMN] };
    const cells = (await this.#table.readRow(CONFIG_KEY, { ...deadline.next(), ...filter }))?.cells ?? [];
    const timestampMs = Math.max(-1, ...cells.map((cell) => cell.timestampMs));
    const text = textOf(cells, NEXT_COLUMN);
    if (text === undefined) return { text, next: 0, last: [], timestampMs };
    const last = valueOfJson(textOf(cells, LAST_COLUMN));
    if (/^\d{1,10}$/.test(text) && Array.isArray(last) && last.every(isCommit)) {
      return { text, next: Number(text), last, timestampMs };
    }
    throw this.#corrupt(CONFIG_KEY, 'holds no next number of a commit');
  }

  #moveTail(tail: Tail, added: readonly Commit[], deadline: CallDeadline): Promise<boolean> {
    // Newer than the cells they replace, whatever this process's clock says: else they would never be read.
    const timestampMs = Math.max(timers.wallMs(), tail.timestampMs + 1);
    const moved = [
      setCell(FAMILY, NEXT_COLUMN, String(tail.next + added.length), timestampMs),
      setCell(FAMILY, LAST_COLUMN, JSON.stringify(added), timestampMs),
    ];
    const was = { family: FAMILY, qualifier: NEXT_COLUMN, value: tail.text };
    return changeRowIfSame(this.#table, CONFIG_KEY, was, moved, deadline.next());
  }

  /** Write the rows of the last commits where whoever added them did not come to it. */
  async #completeRows({ next, last }: Tail, deadline: CallDeadline): Promise<void> {
    if (next === this.#completeTo) return;
    const present = new Set((await this.#readByHashes(last, deadline)).map(({ hash }) => hash));
    const missing = last.filter(({ hash }) => !present.has(hash));
    if (missing.length > 0) await this.#writeRows(missing, deadline);
    this.#completeTo = next;
  }

  /** By number first: a commit that is found by its hash has both rows. */
  async #writeRows(commits: readonly Commit[], deadline: CallDeadline): Promise<void> {
    for (const keyOf of [({ number }: Commit) => commitKey(number), ({ hash }: Commit) => commitHashKey(hash)]) {
      const rows = commits.map(({ hash, number, timestampMs }) => {
        const text = JSON.stringify({ hash, number, timestampMs });
        return { key: keyOf({ hash, number }), mutations: [setCell(FAMILY, JSON_COLUMN, text)] };
      });
      await this.#table.mutateRows(rows, deadline.next());
    }
  }

  #parse({ key, cells }: Row): Commit {
    const commit = valueOfJson(cells[0]?.value);
    if (isCommit(commit)) return commit;
    throw this.#corrupt(key, 'holds no commit');
  }

  #corrupt(key: string, what: string): TraceDbError {
    return storeCorrupt(`row ${key} of ${this.#table.location} ${what}`);
  }
}
