// Calls that change or sample rows. Conditional writes and increments are one request, never sent twice: when its answer is lost, only the caller can
// tell whether to do it again. Bulk writes are requests of 1,000 rows one after the other, because larger and parallel ones are slower; every row's
// own outcome is kept, and a row that is not known to be written must be reported.
import type { protos } from '@google-cloud/bigtable';
import { backoffMs, timers } from 'spanline/internal/base';
import { invalidInput, tableLimit } from '../../tracedb-error.js';
import type { CallGuard } from '../call-guard.js';
import type { Mutation, RowFailure, RowMutation } from '../wide-column-table.js';
import {
  BACKOFF,
  bigtableError,
  callOptions,
  type DataClient,
  isTransient,
  MAX_ATTEMPTS,
  type ResponseStream,
  STATUS,
  statusOf,
} from './client.js';

type MutationProto = protos.google.bigtable.v2.IMutation;

const DELETE_ROW: MutationProto = { deleteFromRow: {} };

// Beyond this many microseconds (in the year 2255) only text is exact.
const MAX_EXACT_MS = Math.floor(Number.MAX_SAFE_INTEGER / 1000);

const microsOf = (timestampMs: number): number | string =>
  timestampMs <= MAX_EXACT_MS ? timestampMs * 1000 : `${timestampMs}000`;

/** A mutation as the service wants it. */
const proto = (mutation: Mutation): MutationProto => {
  if (mutation.type === 'delete-row') return DELETE_ROW;
  const { family: familyName } = mutation;
  const columnQualifier = Buffer.from(mutation.qualifier);
  if (mutation.type === 'delete-cell') return { deleteFromColumn: { familyName, columnQualifier } };
  const { value, timestampMs } = mutation;
  return { setCell: { familyName, columnQualifier, timestampMicros: microsOf(timestampMs), value } };
};

type RowFilter = protos.google.bigtable.v2.IRowFilter;
type Sample = protos.google.bigtable.v2.ISampleRowKeysResponse;

/** A call's place and time. */
export interface CallTask {
  readonly what: string;
  readonly client: DataClient;
  readonly table: string;
  readonly guard: CallGuard;
  readonly deadlineAt: number;
}

const left = ({ deadlineAt }: CallTask) => callOptions(deadlineAt - timers.wallMs());

/** The answer, or why there is none: what the call said, or what stopped it. The request itself cannot be called back. */
const answer = <T>({ what, guard }: CallTask, response: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    guard.whenStopped(reject);
    response.then(resolve, (cause) => reject(bigtableError(cause, what)));
  });

/** Apply `then` or `otherwise`; true when the filter let a cell through. */
export const changeRowIf = async (
  task: CallTask,
  key: string,
  predicateFilter: RowFilter,
  then: readonly Mutation[],
  otherwise: readonly Mutation[],
): Promise<boolean> => {
  const request = {
    tableName: task.table,
    rowKey: Buffer.from(key),
    predicateFilter,
    trueMutations: then.map(proto),
    falseMutations: otherwise.map(proto),
  };
  const [{ predicateMatched }] = await answer(task, task.client.checkAndMutateRow(request, left(task)));
  return predicateMatched === true;
};

const isNoCounter = (error: unknown): boolean => {
  const code = statusOf(error);
  if (code === STATUS.invalidArgument || code === STATUS.failedPrecondition) return true;
  return code === STATUS.unknown && /64-bit/.test((error as Error).message);
};

const addOnce = async (task: CallTask, key: string, familyName: string, qualifier: string, by: number) => {
  const request = {
    tableName: task.table,
    rowKey: Buffer.from(key),
    rules: [{ familyName, columnQualifier: Buffer.from(qualifier), incrementAmount: by }],
  };
  const sent = task.client.readModifyWriteRow(request, left(task)).catch((cause: unknown) => {
    if (!isNoCounter(cause)) throw cause;
    const cell = `cell ${familyName}:${qualifier} of row ${JSON.stringify(key)}`;
    throw invalidInput(`${cell} is not a counter of 8 bytes`, { cause });
  });
  const [{ row }] = await answer(task, sent);
  const value = row?.families?.[0]?.columns?.[0]?.cells?.[0]?.value as Buffer;
  return value.readBigInt64BE();
};

/** Add `by` to a counter; returns the sum. */
export const addToCell = async (
  task: CallTask,
  key: string,
  family: string,
  qualifier: string,
  by: number,
): Promise<number> => {
  const sum = Number(await addOnce(task, key, family, qualifier, by));
  if (Number.isSafeInteger(sum)) return sum;
  // The service adds without asking, so it is taken back.
  await addOnce(task, key, family, qualifier, -by);
  throw tableLimit(`the counter of row ${JSON.stringify(key)} would leave the safe integers`);
};

/** Row keys at which the service would cut the table, ascending, with an empty one for its end. */
export const sampleKeys = (task: CallTask): Promise<Buffer[]> =>
  new Promise((resolve, reject) => {
    const stream = task.client.sampleRowKeys(
      { tableName: task.table },
      left(task),
    ) as unknown as ResponseStream<Sample>;
    const keys: Buffer[] = [];
    task.guard.whenStopped((error) => {
      stream.cancel();
      reject(error);
    });
    stream
      .on('data', ({ rowKey }) => keys.push(rowKey as Buffer))
      .on('error', (cause) => reject(bigtableError(cause, task.what)))
      .on('end', () => resolve(keys));
  });

type Response = protos.google.bigtable.v2.IMutateRowsResponse;
type Entry = protos.google.bigtable.v2.MutateRowsRequest.IEntry;

const CHUNK_ROWS = 1000;
// Well below what the service and the emulator take in one message.
const CHUNK_BYTES = 16 * 1024 * 1024;

const sizeOf = (mutations: readonly Mutation[]): number => {
  let bytes = 0;
  for (const mutation of mutations) if (mutation.type === 'set') bytes += mutation.value.length;
  return bytes;
};

/** Cut into requests; rows that come twice in one become one row, for the service keeps no order between them. */
function* chunksOf(rows: readonly RowMutation[]): Generator<RowMutation[]> {
  let chunk = new Map<string, RowMutation>();
  let bytes = 0;
  for (const row of rows) {
    const size = sizeOf(row.mutations);
    if (chunk.size > 0 && (chunk.size >= CHUNK_ROWS || bytes + size > CHUNK_BYTES)) {
      yield [...chunk.values()];
      chunk = new Map();
      bytes = 0;
    }
    const before = chunk.get(row.key);
    const { key } = row;
    chunk.set(key, before === undefined ? row : { key, mutations: [...before.mutations, ...row.mutations] });
    bytes += size;
  }
  if (chunk.size > 0) yield [...chunk.values()];
}

/** Send one request; the status of each entry goes to `outcomes`, the error of the stream is returned. */
const send = (task: CallTask, entries: Entry[], outcomes: (Error | 'ok' | undefined)[]) =>
  new Promise<unknown>((resolve) => {
    const request = { tableName: task.table, entries };
    const stream = task.client.mutateRows(request, left(task)) as unknown as ResponseStream<Response>;
    task.guard.whenStopped((error) => {
      stream.cancel();
      resolve(error);
    });
    stream
      .on('data', (response) => {
        for (const { index, status } of response.entries ?? []) {
          const code = status?.code ?? STATUS.ok;
          outcomes[Number(index)] =
            code === STATUS.ok ? 'ok' : Object.assign(new Error(`${status?.message}`), { code });
        }
      })
      .on('error', resolve)
      .on('end', () => resolve(undefined));
  });

const NO_ANSWER = Object.assign(new Error('the answer ended before this row'), { code: STATUS.unavailable });

/** What became of a chunk. */
interface ChunkResult {
  readonly failures: RowFailure[];
  /** Why the request as a whole failed, with no row written; further ones would too. */
  readonly fatal: unknown;
}

/** Write one chunk, again for rows whose refusal may pass. */
const writeChunk = async (task: CallTask, chunk: readonly RowMutation[]): Promise<ChunkResult> => {
  const failures: RowFailure[] = [];
  let rest = chunk;
  let hasWritten = false;
  for (let attempt = 1; ; attempt++) {
    const entries = rest.map(({ key, mutations }) => ({ rowKey: Buffer.from(key), mutations: mutations.map(proto) }));
    const outcomes: (Error | 'ok' | undefined)[] = new Array(rest.length);
    const streamError = await send(task, entries, outcomes);
    task.guard.check();
    const again: RowMutation[] = [];
    for (const [i, row] of rest.entries()) {
      const outcome = outcomes[i] ?? streamError ?? NO_ANSWER;
      if (outcome === 'ok') hasWritten = true;
      // Rows are set and deleted with given times, so that writing one twice is writing it once.
      else if (isTransient(outcome) && attempt < MAX_ATTEMPTS) again.push(row);
      else failures.push({ key: row.key, error: bigtableError(outcome, task.what) });
    }
    if (again.length === 0) return { failures, fatal: hasWritten ? undefined : streamError };
    rest = again;
    await task.guard.sleep(backoffMs(attempt, BACKOFF));
  }
};

/** Write all rows; returns those that were not written. Rejects when none was because the store cannot be reached. */
export const writeRows = async (task: CallTask, rows: readonly RowMutation[]): Promise<readonly RowFailure[]> => {
  const failures: RowFailure[] = [];
  const chunks = [...chunksOf(rows)];
  for (const [i, chunk] of chunks.entries()) {
    const result = await writeChunk(task, chunk);
    failures.push(...result.failures);
    if (result.fatal === undefined) continue;
    const error = bigtableError(result.fatal, task.what);
    const rest = chunks.slice(i + 1).flat();
    if (failures.length + rest.length === chunks.reduce((sum, { length }) => sum + length, 0)) throw error;
    return failures.concat(rest.map(({ key }) => ({ key, error })));
  }
  return failures;
};
