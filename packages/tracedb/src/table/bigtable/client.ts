// Google's client, at its lowest public level: the generated one. Its upper level (Table) must not be used: it takes 8-byte values
// for numbers, ends a read that the server cancelled as if it were whole, and computes the end of a prefix in UTF-16.
import type { v2 } from '@google-cloud/bigtable';
import { missingPackage } from 'spanline/internal/base';
import { TraceDbError } from '../../tracedb-error.js';
import { bigtableError } from './grpc-errors.js';
import type { BigtableLocation } from './location.js';

/** The client for rows. */
export type DataClient = v2.BigtableClient;
/** The client for tables and families. */
export type AdminClient = v2.BigtableTableAdminClient;

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
