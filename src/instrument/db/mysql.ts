// Queries of mysql 2, which publishes nothing: `query` of its connections is wrapped, which those of pools end in too. What it gives, and in which order
// its callbacks and events come, stays as it is. They come in the context of their caller: a connection's packets drive them, so a sequence is bound when
// it is queued.
import type { EventEmitter } from 'node:events';
import { allOff, type Off, quiet } from '../channel.js';
import type { Callback, Ending } from '../ending.js';
import { boundFor, callerHere, emitFor } from '../in-context.js';
import type { Begun } from '../measures.js';
import { type ModuleOptions, onModule } from '../on-module.js';
import { type Method, onReturn, ownerOf, prototypeOf, replaceMethod, SeenClasses } from '../replace-method.js';
import { Database, type DatabaseOptions, errorNumber, mysqlServer, sqlOperation } from './database.js';
import { Unanswered } from './unanswered.js';

/** Options of the instrumentation `mysql`. */
export interface MysqlOptions extends DatabaseOptions, ModuleOptions {}

interface Mysql {
  createConnection?(config: object): object;
  createPool?(config: object): object;
}
interface Connection {
  readonly _protocol?: object;
  readonly config?: object;
}
/** What `query` gives: one that was made before, for a pool, or a new one. */
interface Query extends EventEmitter {
  _callback?: Callback;
}

/** It ends once, before its listeners are called. */
const hear = quiet((query: Query, ended: Ending): void => {
  const { emit, _callback: callback } = query;
  if (callback !== undefined) query._callback = boundFor(callerHere(), callback, ended);
  query.emit = function (name, ...args) {
    if (name === 'error') ended(args[0]);
    else if (name === 'end') ended(undefined);
    return Reflect.apply(emit, this, [name, ...args]);
  };
});

/** Queued sequences: queries, pings, the end. */
const queueing = (enqueue: Method): Method =>
  function (this: unknown, sequence, ...rest) {
    const caller = callerHere();
    const query = sequence as Query;
    if (query._callback !== undefined) query._callback = boundFor(caller, query._callback);
    emitFor(caller, query);
    return Reflect.apply(enqueue, this, [sequence, ...rest]);
  };

/** Its classes are not exported; in every copy. */
const keepCallers = (): Off => {
  const classes = new SeenClasses();
  const seen = quiet((connection: Connection | undefined) =>
    classes.replace(prototypeOf(connection?._protocol), '_enqueue', queueing),
  );
  const getting = (getConnection: Method): Method =>
    function (this: unknown, callback, ...rest) {
      const got = boundFor(callerHere(), callback, (_, connection) => seen(connection as Connection | undefined));
      return Reflect.apply(getConnection, this, [got, ...rest]);
    };
  // A cluster makes its pools by the class itself; one that is made opens no connection.
  const seePools = quiet((mysql: Mysql) =>
    classes.replace(prototypeOf(mysql.createPool?.({})), 'getConnection', getting),
  );
  return allOff([
    onModule<Mysql>('mysql', undefined, (mysql) => {
      seePools(mysql);
      return onReturn(mysql, 'createConnection', seen);
    }),
    classes.off,
  ]);
};

/** mysql 2. */
export const instrumentMysql = (options: MysqlOptions): Off => {
  const mysql = new Database('mysql', 'mysql', options, errorNumber());
  const unanswered = new Unanswered({ code: 'PROTOCOL_CONNECTION_LOST' });
  const begin = quiet((connection: Connection, given: unknown): Begun | undefined => {
    const text = typeof given === 'string' ? given : (Object(given) as { sql?: unknown }).sql;
    const span = mysql.start(mysqlServer(connection.config), sqlOperation(text, 'mysql'));
    return span?.isRecording === true ? span : undefined;
  });

  const asking = (ask: Method): Method =>
    function (this: unknown, ...args) {
      const connection = this as Connection;
      const span = begin(connection, args[0]);
      if (span === undefined) return Reflect.apply(ask, this, args);
      const ended = unanswered.follow(connection, (error) => mysql.end(span, error));
      try {
        const query = Reflect.apply(ask, this, args);
        hear(query as Query, ended);
        return query;
      } catch (error) {
        ended(error);
        throw error;
      }
    };

  // Its classes are not exported; one that is made is not connected.
  const replace = (name: string, make: (original: Method) => Method): Off =>
    onModule<Mysql>('mysql', options.module, (library) =>
      replaceMethod(ownerOf(prototypeOf(library.createConnection?.({})), name), name, make),
    );
  const stopBeginning = allOff([keepCallers(), replace('query', asking)]);
  return unanswered.off(stopBeginning, replace('destroy', unanswered.destroying));
};
