// What people said of the changes of a history: whether the change of a series at a commit is real, with who, when and why. It is kept beside
// the values, one row a commit. Two people who judge one change at once must not both believe that theirs is the last word: a judgement is
// written on the condition that nobody changed it since it was read.
import { createHash } from 'node:crypto';
import { oneOf, timers, wholeNumber } from 'spanline/internal/base';
import { TRIAGE_STATUSES, type TriageStatus } from '../gold/expectations.js';
import { type Time, textIn, toMs } from '../gold/values.js';
import { CallDeadline, retryConflicts } from '../params/call-deadline.js';
import { changeRowIfSame, setCell, valueOfJson } from '../table/cells.js';
import type { CallOptions, Cell, WideColumnTable } from '../table/wide-column-table.js';
import { MAX_TILE } from '../tile.js';
import { invalidInput, storeCorrupt, tableLimit } from '../tracedb-error.js';
import { FAMILIES, triageKey } from './keys.js';

/** A change: of one series, first seen at one commit. */
interface ChangeName {
  /** Number of the first commit at the new level. */
  readonly commit: number;
  /** Structured key of the series. */
  readonly key: string;
}

/** A change and what was said of it last: `positive` it is real, `negative` it is noise, or nothing any more. */
export interface TriagedChange extends ChangeName {
  readonly status: TriageStatus;
  readonly by: string;
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly note: string;
}

/** What to say of a change, and who says it. */
export interface ChangeTriage extends ChangeName {
  readonly status: TriageStatus;
  /** 1 to 256 characters. */
  readonly by: string;
  /** At most 1,000 characters. */
  readonly note?: string;
  /** Default: now. */
  readonly time?: Time;
}

const FAMILY = FAMILIES.commit;
const MAX_KEY = 65_536;
const MAX_LISTED = 100_000;

/** Keys are longer than names of columns may be. */
const columnOf = (key: string): string => createHash('sha256').update(key).digest('hex');

interface Stored extends TriagedChange {
  /** Makes two cells of equal content differ. */
  readonly revision: number;
}

const isStored = (value: unknown): value is Stored => {
  const { commit, key, status, revision } = (value ?? {}) as Partial<Stored>;
  const isNamed = Number.isSafeInteger(commit) && typeof key === 'string';
  return isNamed && TRIAGE_STATUSES.includes(status as TriageStatus) && Number.isSafeInteger(revision);
};

const parse = (cell: Cell, row: string): Stored => {
  const value = valueOfJson(cell.value);
  if (isStored(value)) return value;
  throw storeCorrupt(`row ${row} holds no judgement of a change; restore it from a backup`);
};

/** What is said of a change, checked and complete. Throws `ERR_SPANLINE_INVALID_INPUT`. */
export const checkedTriage = ({
  commit,
  key,
  status,
  by,
  note = '',
  time = timers.wallMs(),
}: ChangeTriage): TriagedChange => {
  wholeNumber('commit', commit, [0, MAX_TILE], invalidInput);
  textIn('key', key, 1, MAX_KEY);
  textIn('by', by, 1, 256);
  textIn('note', note, 0, 1000);
  oneOf('status', status, TRIAGE_STATUSES, invalidInput);
  return { commit, key, status, by, atMs: toMs('time', time), note };
};

/** Judgements of changes in the table of a Perf store. */
export class RegressionTriage {
  readonly #table: WideColumnTable;

  constructor(table: WideColumnTable) {
    this.#table = table;
  }

  /** Say something of a change; resolves to what the store has now. Rejects with `ERR_SPANLINE_INVALID_INPUT` before anything is written. */
  set(triage: ChangeTriage, call?: CallOptions): Promise<TriagedChange> {
    const said = checkedTriage(triage);
    const { commit, key } = said;
    const deadline = new CallDeadline(`triaging commit ${commit}`, call);
    const row = triageKey(commit);
    const qualifier = columnOf(key);
    return retryConflicts(
      `the judgement of commit ${commit}`,
      async () => {
        const read = await this.#table.readRow(row, {
          ...deadline.next(),
          families: [FAMILY],
          qualifiers: [qualifier],
        });
        const cell = read?.cells[0];
        const next: Stored = { ...said, revision: (cell === undefined ? 0 : parse(cell, row).revision) + 1 };
        // Newer than what it replaces, whatever this process's clock says: else it would never be read.
        const set = setCell(
          FAMILY,
          qualifier,
          JSON.stringify(next),
          Math.max(timers.wallMs(), (cell?.timestampMs ?? -1) + 1),
        );
        const was = { family: FAMILY, qualifier, value: cell?.value };
        return (await changeRowIfSame(this.#table, row, was, [set], deadline.next())) ? said : undefined;
      },
      deadline,
    );
  }

  /** What was said of changes at commits from `from` to `to`, both included. Rejects with `ERR_SPANLINE_TABLE_LIMIT` beyond 100,000. */
  async list(
    { from = 0, to = MAX_TILE }: { from?: number; to?: number } = {},
    call?: CallOptions,
  ): Promise<TriagedChange[]> {
    const found: TriagedChange[] = [];
    const range = { start: triageKey(from), end: `${triageKey(to)}\u0001` };
    for await (const rows of this.#table.readRows(range, { ...call, families: [FAMILY] })) {
      for (const { key, cells } of rows) {
        for (const cell of cells) {
          const { revision: _, ...change } = parse(cell, key);
          found.push(change);
        }
        if (found.length > MAX_LISTED) {
          throw tableLimit(`more than ${MAX_LISTED} judgements in commits ${from} to ${to}; ask for fewer commits`);
        }
      }
    }
    return found;
  }
}
