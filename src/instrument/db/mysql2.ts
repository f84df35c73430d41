// Queries of mysql2, by its channels. What waited in a pool belongs to whoever asked, not to whoever gave the connection back.
import { tracingChannel } from 'node:diagnostics_channel';
import { lineStore } from '../../local-span/line-store.js';
import type { SpanLine } from '../../local-span/span-line.js';
import { allOff, type Off, onMessage, orElse } from '../channel.js';
import { traceChannel } from '../traced-channel.js';
import { codeUnder, Database, type DatabaseOptions, type Server, sqlOperation } from './database.js';
import { keepMysqlCallers } from './mysql-callers.js';

interface Query extends Server {
  readonly query?: unknown;
}

const statusOf = codeUnder('errno');

/** Calls back to a caller of the channel `name` come in the caller's context. */
const keepCaller = (name: string): Off => {
  const callers = new WeakMap<object, SpanLine>();
  const { asyncStart } = tracingChannel<unknown, object>(name);
  const caller = orElse(
    () => lineStore.getStore(),
    (message: object) => callers.get(message),
  );
  asyncStart.bindStore(lineStore, caller as (message: object) => SpanLine);
  return allOff([
    () => void asyncStart.unbindStore(lineStore),
    onMessage<object>(`tracing:${name}:start`, (message) => {
      const line = lineStore.getStore();
      if (line !== undefined) callers.set(message, line);
    }),
  ]);
};

/** mysql2 3.20 and later; of mysql 2 the callers alone. */
export const instrumentMysql2 = (options: DatabaseOptions): Off => {
  const mysql = new Database('mysql2', 'mysql', options);
  const trace = (channel: string): Off =>
    traceChannel<Query>(channel, {
      begin: (message) => mysql.start(message, sqlOperation(message.query, 'mysql')),
      finish: (span, { error }) => mysql.finish(span, error, statusOf),
    });
  return allOff([
    keepMysqlCallers(),
    keepCaller('mysql2:pool:connect'),
    trace('mysql2:query'),
    trace('mysql2:execute'),
  ]);
};
