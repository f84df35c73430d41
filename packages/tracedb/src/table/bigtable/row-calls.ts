// Calls that are one request: conditional writes, increments, samples. None is sent twice: when its answer is lost, only the caller
// can tell whether to do it again.
import type { protos } from '@google-cloud/bigtable';
import { timers } from 'spanline/internal/base';
import { invalidInput, tableLimit } from '../../tracedb-error.js';
import type { CallGuard } from '../call-guard.js';
import type { Mutation } from '../wide-column-table.js';
import { callOptions, type DataClient, type ResponseStream } from './client.js';
import { bigtableError, STATUS, statusOf } from './grpc-errors.js';

type MutationProto = protos.google.bigtable.v2.IMutation;

const DELETE_ROW: MutationProto = { deleteFromRow: {} };

// Beyond this many microseconds (in the year 2255) only text is exact.
const MAX_EXACT_MS = Math.floor(Number.MAX_SAFE_INTEGER / 1000);

const microsOf = (timestampMs: number): number | string =>
  timestampMs <= MAX_EXACT_MS ? timestampMs * 1000 : `${timestampMs}000`;

const proto = (mutation: Mutation): MutationProto => {
  if (mutation.type === 'delete-row') return DELETE_ROW;
  const { family: familyName } = mutation;
  const columnQualifier = Buffer.from(mutation.qualifier);
  if (mutation.type === 'delete-cell') return { deleteFromColumn: { familyName, columnQualifier } };
  const { value, timestampMs } = mutation;
  return { setCell: { familyName, columnQualifier, timestampMicros: microsOf(timestampMs), value } };
};

/** `mutations` as the service wants them, in their order. */
export const mutationProtos = (mutations: readonly Mutation[]): MutationProto[] => mutations.map(proto);

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
    trueMutations: mutationProtos(then),
    falseMutations: mutationProtos(otherwise),
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
