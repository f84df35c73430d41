// Queries of pg, which publishes nothing: `Client.prototype.query` is wrapped, and must give what it gave. The end of a query is heard at the
// callback of the query itself, which every form of the call ends in. Callbacks and events run in the context of the caller, traced or not.

import { isThenable } from '../../base/calls/timers.js';
import { Counter, count } from '../../rows/counters.js';
import { allOff, type Off } from '../channel.js';
import { copyWith } from '../copy-with.js';
import { type Ending, endingWith, endingWithEvents, isEmitter } from '../ending.js';
import { boundFor, callerHere, callingBack } from '../in-context.js';
import { type Begun, spanOf } from '../measures.js';
import { type ModuleOptions, onModule } from '../on-module.js';
import { addPeer, type Peer } from '../peer.js';
import { type Classes, type Method, ownerOf, type Prototype, replaceMethod } from '../replace-method.js';
import { Database, type DatabaseOptions, sqlOperation, sqlState } from './database.js';

interface Client {
  readonly host?: unknown;
  readonly port?: unknown;
  readonly database?: unknown;
  readonly connection?: { readonly stream?: Peer };
}

/** Options of the instrumentation `pg`. */
export interface PgOptions extends DatabaseOptions, ModuleOptions {}

/** Of pg-query-stream the cursor inside has it. */
const textOf = (config: unknown): unknown => {
  if (typeof config === 'string') return config;
  const { text, cursor } = Object(config) as { text?: unknown; cursor?: { readonly text?: unknown } };
  return text ?? cursor?.text;
};

/** pg 8, its JavaScript client. */
export const instrumentPg = (options: PgOptions): Off => {
  const postgres = new Database('pg', 'postgresql', options, sqlState);

  const begin = (client: Client, config: unknown): Ending | undefined => {
    try {
      const { host, port, database } = client;
      const begun = postgres.start({ serverAddress: host, serverPort: port, database }, sqlOperation(textOf(config)));
      return begun?.isRecording === true ? endingOf(begun, client) : undefined;
    } catch {
      count(Counter.instrumentationErrors);
      return undefined;
    }
  };

  const endingOf =
    (begun: Begun, client: Client): Ending =>
    (error) => {
      try {
        const span = spanOf(begun);
        if (span?.isRecording === true) addPeer(span, client.connection?.stream ?? {});
        postgres.end(begun, error);
      } catch {
        count(Counter.instrumentationErrors);
      }
    };

  const asking = (query: Method): Method =>
    function (this: unknown, ...args) {
      const caller = callerHere();
      const ended = begin(this as Client, args[0]);
      // With a callback of the caller, as an argument or in the query, that is where it ends.
      // pg takes it in place of the values or behind them, and nowhere else.
      const at = typeof args[1] === 'function' ? 1 : typeof args[2] === 'function' ? 2 : -1;
      if (at >= 0) args[at] = boundFor(caller, args[at], ended);
      const config = args[0] as { submit?: unknown; callback?: unknown };
      const isQuery = typeof config === 'object' && config !== null && typeof config.submit === 'function';
      if (at < 0 && typeof config?.callback === 'function') {
        const callback = boundFor(caller, config.callback, ended);
        if (isQuery) config.callback = callback;
        else args[0] = copyWith(config, { callback });
      }
      let result: unknown;
      try {
        result = Reflect.apply(query, this, args);
      } catch (error) {
        ended?.(error);
        throw error;
      }
      if (at < 0 && isThenable(result)) {
        // Another promise on the side would answer for a failure that the program leaves unhandled.
        return ended === undefined ? result : endingWith(result, ended);
      }
      if (isEmitter(result)) {
        endingWithEvents(caller, result, ended);
        // A cursor reports its error to its reader alone.
        const submitted = result as { handleError?: unknown };
        if (isQuery && ended !== undefined && typeof submitted.handleError === 'function')
          submitted.handleError = boundFor(caller, submitted.handleError, ended);
      } else if (at < 0 && typeof config?.callback !== 'function') ended?.(undefined);
      return result;
    };

  return allOff([
    onModule<Classes<'Client' | 'Pool'>>('pg', options.module, ({ Client, Pool }) => {
      // A waiter in a pool for a client gets it in its own context, not in that of the call that gave it back; what waits for the end of all too.
      const pool = ownerOf(Pool?.prototype, 'connect');
      return allOff([
        replaceMethod(Client?.prototype, 'query', asking),
        replaceMethod(Client?.prototype, 'end', callingBack),
        replaceMethod(pool, 'connect', callingBack),
        replaceMethod(pool, 'end', callingBack),
      ]);
    }),
    // What is read of a cursor may be read by another than its opener.
    onModule<{ readonly prototype: Prototype }>('pg-cursor', undefined, ({ prototype }) =>
      allOff([replaceMethod(prototype, 'read', callingBack), replaceMethod(prototype, 'close', callingBack)]),
    ),
  ]);
};
