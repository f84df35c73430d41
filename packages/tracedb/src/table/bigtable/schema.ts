// Makes the table and its families. Several processes may do so at once, so that "exists already" is not a failure.
import type { protos } from '@google-cloud/bigtable';
import { backoffMs, sleep } from 'spanline/internal/base';
import { noTable, TraceDbError } from '../../tracedb-error.js';
import { type AdminClient, callOptions, tableName } from './client.js';
import { BACKOFF, bigtableError, isTransient, MAX_ATTEMPTS, STATUS, statusOf } from './grpc-errors.js';
import type { BigtableLocation } from './location.js';

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
