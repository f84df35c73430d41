// Queries of mysql2, by its channels, and what `prepare` gave, which publishes nothing. What waited in a pool belongs to its caller, not to whoever
// gave the connection back.
import { tracingChannel } from 'node:diagnostics_channel';
import type { EventEmitter } from 'node:events';
import { queueStore, type SpanQueue } from '../../local-span/local-span.js';
import { allOff, type Off, onMessage, quiet } from '../channel.js';
import { type Ending, endingWithEvents, isEmitter } from '../ending.js';
import { reasonOf } from '../failure.js';
import { boundFor, callerHere, emitFor } from '../in-context.js';
import type { Begun } from '../measures.js';
import { onModule } from '../on-module.js';
import {
  type Classes,
  KnownClasses,
  type Method,
  ownerOf,
  type Prototype,
  prototypeOf,
  replaceMethod,
} from '../replace-method.js';
import { traceChannel } from '../traced-channel.js';
import { Database, type DatabaseOptions, errorNumber, mysqlServer, type Server, sqlOperation } from './database.js';
import { Unanswered } from './unanswered.js';

type Mysql2 = Classes<'Connection'>;

const ENDED = Symbol('spanline.ended');

interface Query extends Server {
  readonly query?: unknown;
  /** Of one that waits for an answer. */
  [ENDED]?: Ending;
}
/** A connection that is asked now. */
interface Asked {
  readonly connection: object;
  /** It has said so itself, before anybody is called back. */
  isAnswered: boolean;
  ended: Ending | undefined;
}
interface Command {
  execute?: Method;
}

/** What `prepare` gives. */
interface Statement {
  readonly query?: unknown;
  readonly _connection?: { readonly config?: object };
}

/** As the library says it itself, where it does. */
const LOST = { code: 'PROTOCOL_CONNECTION_LOST' };

/** The class of connections; pools have subclasses of their own. */
const connectionsOf = ({ Connection }: Mysql2): Prototype | undefined => ownerOf(Connection?.prototype, 'addCommand');

/** Of what `prepare` gave, whose class is seen by its objects alone. */
const STATEMENTS = new KnownClasses();

/** `execute` of those. */
const traceStatements = (mysql: Database, unanswered: Unanswered): Off => {
  const begin = quiet(({ query, _connection }: Statement): Begun | undefined =>
    mysql.start(mysqlServer(_connection?.config), sqlOperation(query, 'mysql')),
  );
  const hear = quiet(endingWithEvents);
  const executing = (execute: Method): Method =>
    function (this: unknown, ...args) {
      const caller = callerHere();
      const span = begin(this as Statement);
      if (span?.isRecording !== true) return Reflect.apply(execute, this, args);
      const { _connection: connection } = this as Statement;
      const ended = unanswered.follow(connection ?? span, (error) => mysql.end(span, error));
      const at = args.findIndex((argument) => typeof argument === 'function');
      if (at >= 0) args[at] = boundFor(caller, args[at], ended);
      let command: EventEmitter | undefined;
      try {
        command = Reflect.apply(execute, this, args) as EventEmitter | undefined;
      } catch (error) {
        ended(reasonOf(error));
        throw error;
      }
      // A connection that is closed gives none, and calls its own listeners.
      if (isEmitter(command)) hear(caller, command, ended);
      else ended(reasonOf(undefined));
      return command;
    };
  const classes = STATEMENTS.patch((statement) => replaceMethod(statement, 'execute', executing));
  const seen = quiet((_: unknown, statement: unknown) => {
    if (typeof statement === 'object' && statement !== null) classes.see(prototypeOf(statement));
  });
  const preparing = (prepare: Method): Method =>
    function (this: unknown, options, callback, ...rest) {
      return Reflect.apply(prepare, this, [options, boundFor(callerHere(), callback, seen), ...rest]);
    };
  return allOff([
    onModule<Mysql2>('mysql2', undefined, (mysql2) => replaceMethod(connectionsOf(mysql2), 'prepare', preparing)),
    classes.off,
  ]);
};

/** Queued commands, which the packets of the connection drive. */
const adding = (add: Method): Method =>
  function (this: unknown, command, ...rest) {
    const { execute } = command as Command;
    if (typeof execute === 'function') (command as Command).execute = boundFor(callerHere(), execute);
    return Reflect.apply(add, this, [command, ...rest]);
  };

/** In every copy. */
const keepCallers = (asking: (ask: Method) => Method): Off =>
  onModule<Mysql2>('mysql2', undefined, (mysql2) => {
    const base = connectionsOf(mysql2);
    return allOff([
      replaceMethod(base, 'addCommand', adding),
      replaceMethod(base, 'query', asking),
      replaceMethod(base, 'execute', asking),
    ]);
  });

/** Calls back to a caller of the channel `name` come in the caller's context. */
const keepCallerOf = (name: string): Off => {
  const callers = new WeakMap<object, SpanQueue>();
  const { asyncStart } = tracingChannel<unknown, object>(name);
  asyncStart.bindStore(queueStore, (message) => callers.get(message) as SpanQueue);
  return allOff([
    () => void asyncStart.unbindStore(queueStore),
    onMessage<object>(`tracing:${name}:start`, (message) => {
      const queue = queueStore.getStore();
      if (queue !== undefined) callers.set(message, queue);
    }),
  ]);
};

/** mysql2 3.20 and later. */
export const instrumentMysql2 = (options: DatabaseOptions): Off => {
  const mysql = new Database('mysql2', 'mysql', options, errorNumber());
  const unanswered = new Unanswered(LOST);
  let asked: Asked | undefined;

  /** Its command is queued under its span; events come to the caller. */
  const asking = (ask: Method): Method =>
    function (this: unknown, ...args) {
      const caller = callerHere();
      // A connection that is closed has another one of its own, which answers by a callback alone.
      const isClosed = Object.hasOwn(this as object, 'addCommand');
      const outer = asked;
      const own: Asked = { connection: this as object, isAnswered: false, ended: undefined };
      asked = own;
      let command: unknown;
      try {
        command = Reflect.apply(ask, this, args);
      } finally {
        asked = outer;
      }
      if (isClosed) own.ended?.(LOST);
      if (isEmitter(command))
        quiet(emitFor)(caller, command, (name) => {
          if (name === 'end' || name === 'error') own.isAnswered = true;
        });
      return command;
    };

  const trace = (channel: string): Off =>
    traceChannel<Query, Begun>(channel, {
      begin(message, lose) {
        const begun = mysql.start(message, sqlOperation(message.query, 'mysql'));
        const own = asked;
        if (begun === undefined || own === undefined) return begun;
        own.ended = unanswered.follow(own.connection, (error) => {
          if (!own.isAnswered) lose(message, error);
        });
        message[ENDED] = own.ended;
        return begun;
      },
      finish(begun, message) {
        message[ENDED]?.(undefined);
        mysql.finish(begun, message.error);
      },
    });
  return unanswered.off(
    allOff([
      keepCallers(asking),
      traceStatements(mysql, unanswered),
      keepCallerOf('mysql2:pool:connect'),
      trace('mysql2:query'),
      trace('mysql2:execute'),
    ]),
    // All that destroys one ends in it.
    onModule<Mysql2>('mysql2', undefined, (mysql2) =>
      replaceMethod(connectionsOf(mysql2), 'close', unanswered.destroying),
    ),
  );
};
