// Queries of `node:sqlite`, which Node announces when they are over, with their values in the text and no word of errors.
import { now, nsPerTick } from '../../clock/index.js';
import { type Off, onMessage } from '../channel.js';
import { spanOf } from '../measures.js';
import { Database, type DatabaseOptions, sqlOperation } from './database.js';

interface Query {
  readonly sql: string;
  /** Nanoseconds. */
  readonly duration: number;
}

/** Node 26 and later. */
export const instrumentSqlite = (options: DatabaseOptions): Off => {
  const sqlite = new Database('sqlite', 'sqlite', options);
  return onMessage<Query>('sqlite.db.query', ({ sql, duration }) => {
    const begun = sqlite.start({}, sqlOperation(sql, 'sqlite'));
    if (begun === undefined) return;
    const span = spanOf(begun);
    if (span !== undefined && span.trace !== null && duration > 0) span.begin = now() - duration / nsPerTick();
    sqlite.finish(begun, undefined, duration / 1e9);
    begun.endForGood();
  });
};
