// What the service and the client say, as the errors of this wing. Every failure of a call passes through here once.
import type { Backoff } from 'spanline/internal/base';
import { TraceDbError, type TraceDbErrorCode } from '../../tracedb-error.js';

/** The gRPC status codes this engine tells apart. */
export const STATUS = {
  ok: 0,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** The code of a gRPC error, undefined when it is none. */
export const statusOf = (error: unknown): number | undefined => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'number' ? code : undefined;
};

const RULES: ReadonlyMap<number, readonly [TraceDbErrorCode, string]> = new Map([
  [STATUS.invalidArgument, ['ERR_SPANLINE_INVALID_INPUT', 'see the cause']],
  [STATUS.failedPrecondition, ['ERR_SPANLINE_INVALID_INPUT', 'see the cause']],
  [STATUS.deadlineExceeded, ['ERR_SPANLINE_DEADLINE', 'give the call a longer deadlineMs, or ask for less']],
  [STATUS.notFound, ['ERR_SPANLINE_NOT_FOUND', 'check project, instance and table; open it again to create the table']],
  [STATUS.permissionDenied, ['ERR_SPANLINE_STORE_UNAVAILABLE', 'grant this account roles/bigtable.user']],
  [STATUS.unauthenticated, ['ERR_SPANLINE_STORE_UNAVAILABLE', 'run gcloud auth application-default login']],
  [STATUS.resourceExhausted, ['ERR_SPANLINE_STORE_UNAVAILABLE', 'a quota is used up; wait, or add nodes']],
]);

const reachRemedy = (): string => {
  const emulator = process.env.BIGTABLE_EMULATOR_HOST;
  return emulator === undefined
    ? 'check the network and the credentials (gcloud auth application-default login); ' +
        'for an emulator set BIGTABLE_EMULATOR_HOST'
    : `check that an emulator listens on ${emulator} (BIGTABLE_EMULATOR_HOST)`;
};

/** `cause` as a TraceDbError that names the table. */
export const bigtableError = (cause: unknown, what: string): TraceDbError => {
  if (cause instanceof TraceDbError) return cause;
  const [code, remedy] = RULES.get(statusOf(cause) ?? -1) ?? ['ERR_SPANLINE_STORE_UNAVAILABLE', reachRemedy()];
  const text = cause instanceof Error ? cause.message : String(cause);
  return new TraceDbError(code, `${what} failed: ${text}; ${remedy}`, { cause });
};

/** Whether the same call may succeed when it is made again: the connection broke, or the server was busy. */
export const isTransient = (error: unknown): boolean => {
  const code = statusOf(error);
  if (code === STATUS.unavailable || code === STATUS.aborted) return true;
  // A proxy or a server that goes away resets the stream.
  return code === STATUS.internal && /rst.?stream/i.test((error as Error).message);
};

/** Failures in a row, without a row in between, after which a call gives up. */
export const MAX_ATTEMPTS = 5;

/** The waits in between. */
export const BACKOFF: Backoff = { firstMs: 100, maxMs: 10_000 };
