// Bulk writes: requests of 1,000 rows one after the other, because larger and parallel ones are slower. Every row's own outcome
// is kept: a row that is not known to be written must be reported.
import type { protos } from '@google-cloud/bigtable';
import { backoffMs, timers } from 'spanline/internal/base';
import type { Mutation, RowFailure, RowMutation } from '../wide-column-table.js';
import { callOptions, type ResponseStream } from './client.js';
import { BACKOFF, bigtableError, isTransient, MAX_ATTEMPTS, STATUS } from './grpc-errors.js';
import { type CallTask, mutationProtos } from './row-calls.js';

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
const send = (
  { client, table, guard, deadlineAt }: CallTask,
  entries: Entry[],
  outcomes: (Error | 'ok' | undefined)[],
) =>
  new Promise<unknown>((resolve) => {
    const request = { tableName: table, entries };
    const options = callOptions(deadlineAt - timers.wallMs());
    const stream = client.mutateRows(request, options) as unknown as ResponseStream<Response>;
    guard.whenStopped((error) => {
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
  let left = chunk;
  let hasWritten = false;
  for (let attempt = 1; ; attempt++) {
    const entries = left.map(({ key, mutations }) => ({
      rowKey: Buffer.from(key),
      mutations: mutationProtos(mutations),
    }));
    const outcomes: (Error | 'ok' | undefined)[] = new Array(left.length);
    const streamError = await send(task, entries, outcomes);
    task.guard.check();
    const again: RowMutation[] = [];
    for (const [i, row] of left.entries()) {
      const outcome = outcomes[i] ?? streamError ?? NO_ANSWER;
      if (outcome === 'ok') hasWritten = true;
      // Rows are set and deleted with given times, so that writing one twice is writing it once.
      else if (isTransient(outcome) && attempt < MAX_ATTEMPTS) again.push(row);
      else failures.push({ key: row.key, error: bigtableError(outcome, task.what) });
    }
    if (again.length === 0) return { failures, fatal: hasWritten ? undefined : streamError };
    left = again;
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
