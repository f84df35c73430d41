// The way to Bigtable: the name of a table, Google's client at its lowest public level, the generated one, what it says as our errors, and the table
// and its families, which are made where they are missing; several processes may do so at once. A name must not guess: a project that is not named
// would be taken from the machine. The client's upper level (Table) must not be used: it takes 8-byte values for numbers, ends a read that the server
// cancelled as if it were whole, and computes the end of a prefix in UTF-16.

import type { protos, v2 } from '@google-cloud/bigtable';
import { type Backoff, backoffMs, missingPackage, sleep } from 'spanline/internal/base';
import { invalidInput, noTable, TraceDbError, type TraceDbErrorCode } from '../../tracedb-error.js';

/** The parts of `bigtable://project/instance/table`. */
export interface BigtableLocation {
  readonly text: string;
  readonly project: string;
  readonly instance: string;
  readonly table: string;
}

const PATTERN = /^bigtable:\/\/(?<project>[^/]+)\/(?<instance>[^/]+)\/(?<table>[^/]+)$/;
const PARTS = {
  // Projects of old organisations carry their domain: `example.com:project`.
  project: /^([a-z0-9.-]+:)?[a-z][a-z0-9-]{0,61}$/,
  instance: /^[a-z][a-z0-9-]{0,31}[a-z0-9]$/,
  table: /^[_A-Za-z0-9][-_.A-Za-z0-9]{0,49}$/,
} as const;

const invalid = (text: string, what: string): TraceDbError =>
  invalidInput(`${JSON.stringify(text)} names no Bigtable table: ${what}; write bigtable://project/instance/table`);

/** The parts of `text`, or an error that says which part is wrong. */
export const parseBigtableLocation = (text: string): BigtableLocation => {
  const groups = PATTERN.exec(text)?.groups;
  if (groups === undefined) throw invalid(text, 'it does not have exactly three parts');
  for (const [part, pattern] of Object.entries(PARTS)) {
    const written = groups[part] as string;
    if (!pattern.test(written))
      throw invalid(text, `the ${part} ${JSON.stringify(written)} must match ${pattern.source}`);
  }
  const { project, instance, table } = groups as Record<keyof typeof PARTS, string>;
  return { text, project, instance, table };
};

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

/** The client for rows. */
export type DataClient = v2.BigtableClient;
/** The client for tables and families. */
type AdminClient = v2.BigtableTableAdminClient;

// The caller's own deadline comes first: when the server's passes at the same time, it may say "cancelled" instead.
const GRACE_MS = 1000;

/** Options of one call of the generated client: no retries of its own, since ours know what was already read. */
export const callOptions = (timeoutMs: number) => ({
  timeout: Math.min(Math.max(0, Math.ceil(timeoutMs)) + GRACE_MS, 2 ** 31 - 1),
  retry: { retryCodes: [] },
  retryRequestOptions: {
    objectMode: true,
    retries: 0,
    noResponseRetries: 0,
    currentRetryAttempt: 0,
    shouldRetryFn: () => false,
  },
});

/** A stream of answers. */
export interface ResponseStream<T> {
  on(event: 'data', listener: (response: T) => void): this;
  on(event: 'error', listener: (error: Error) => void): this;
  on(event: 'end', listener: () => void): this;
  on(event: 'status', listener: (status: { code: number; details?: string }) => void): this;
  pause(): this;
  resume(): this;
  cancel(): void;
}

const loadClient = async (what: string): Promise<typeof import('@google-cloud/bigtable')> => {
  try {
    return await import('@google-cloud/bigtable');
  } catch (cause) {
    throw missingPackage(
      cause,
      '@google-cloud/bigtable',
      what,
      (message, options) => new TraceDbError('ERR_SPANLINE_MISSING_PACKAGE', message, options),
    );
  }
};

/** Connect to the project of `location`, or to the emulator that BIGTABLE_EMULATOR_HOST names. */
export const connect = async (location: BigtableLocation): Promise<{ data: DataClient; admin: AdminClient }> => {
  const { Bigtable, v2 } = await loadClient(`the store ${location.text}`);
  // Only for what it knows of endpoints, credentials and channel pools; it opens no connection by itself.
  const settings = {
    projectId: location.project,
    // Would send the client's own latencies to Cloud Monitoring.
    metricsEnabled: false,
    'grpc.initial_reconnect_backoff_ms': 100,
    // An emulator takes no credentials; without this the client asks the network whether the machine is one of Google's.
    ...(process.env.BIGTABLE_EMULATOR_HOST && { clientOptions: { universeDomain: 'googleapis.com' } }),
  };
  const { options } = new Bigtable(settings);
  const data = new v2.BigtableClient(options.BigtableClient);
  const admin = new v2.BigtableTableAdminClient(options.BigtableTableAdminClient);
  try {
    // A first call that cannot get credentials would end in an unhandled rejection inside the client.
    await Promise.all([data.initialize(), admin.initialize()]);
  } catch (cause) {
    throw bigtableError(cause, `connecting to ${location.text}`);
  }
  return { data, admin };
};

/** The table's full name, as requests want it. */
export const tableName = ({ project, instance, table }: BigtableLocation): string =>
  `projects/${project}/instances/${instance}/tables/${table}`;

type Table = protos.google.bigtable.admin.v2.ITable;

const TIMEOUT_MS = 60_000;

// Reads ask for the latest cell anyway; this lets the service throw the older ones away.
const FAMILY = { gcRule: { maxNumVersions: 1 } };

const getTable = async (admin: AdminClient, name: string): Promise<Table | undefined> => {
  try {
    const [table] = await admin.getTable({ name, view: 'SCHEMA_VIEW' }, callOptions(TIMEOUT_MS));
    return table;
  } catch (error) {
    if (statusOf(error) === STATUS.notFound) return undefined;
    throw error;
  }
};

/** One attempt; the families the table has now. */
const attempt = async (
  admin: AdminClient,
  location: BigtableLocation,
  wanted: readonly string[],
  make: boolean,
): Promise<string[]> => {
  const name = tableName(location);
  const table = await getTable(admin, name);
  if (table === undefined) {
    if (!make) throw noTable(location.text, []);
    const columnFamilies = Object.fromEntries(wanted.map((family) => [family, FAMILY]));
    const parent = `projects/${location.project}/instances/${location.instance}`;
    await admin.createTable({ parent, tableId: location.table, table: { columnFamilies } }, callOptions(TIMEOUT_MS));
    return [...wanted];
  }
  const families = Object.keys(table.columnFamilies ?? {});
  const missing = wanted.filter((family) => !families.includes(family));
  if (missing.length > 0) {
    if (!make) throw noTable(location.text, missing);
    const modifications = missing.map((id) => ({ id, create: FAMILY }));
    await admin.modifyColumnFamilies({ name, modifications }, callOptions(TIMEOUT_MS));
  }
  return [...families, ...missing];
};

/** Make what is missing of the table, unless `make` is false; returns all its families. */
export const ensureTable = async (
  admin: AdminClient,
  location: BigtableLocation,
  wanted: readonly string[],
  make: boolean,
): Promise<ReadonlySet<string>> => {
  for (let failures = 1; ; failures++) {
    try {
      return new Set(await attempt(admin, location, wanted, make));
    } catch (error) {
      if (error instanceof TraceDbError) throw error;
      const mayPass = isTransient(error) || statusOf(error) === STATUS.alreadyExists;
      if (!mayPass || failures >= MAX_ATTEMPTS) throw bigtableError(error, `opening ${location.text}`);
      await sleep(backoffMs(failures, BACKOFF));
    }
  }
};
