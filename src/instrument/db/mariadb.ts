// Queries of mariadb 3, which publishes nothing and from 3.5 on is a bundle that exports no class: what it makes is seen, and the methods of the classes of
// that are wrapped. What they give, and in which order their callbacks and events come, stays as it is.
import type { EventEmitter } from 'node:events';
import { types } from 'node:util';
import { lookAlike } from '../../base/calls/look-alike.js';
import { isThenable } from '../../base/calls/timers.js';
import { allOff, type Off, quiet } from '../channel.js';
import { type Callback, type Ending, endingWith, isEmitter } from '../ending.js';
import { fieldOf, reasonOf } from '../failure.js';
import { hostAndPort } from '../http/url.js';
import { boundFor, type Caller, callerHere, emitFor } from '../in-context.js';
import type { Begun } from '../measures.js';
import { type ModuleOptions, onCopy, onFile } from '../on-module.js';
import { KnownClasses, type Method, onReturn, type Prototype, prototypeOf, replaceMethod } from '../replace-method.js';
import { Database, type DatabaseOptions, errorNumber, mysqlServer, type Server, sqlOperation } from './database.js';
import { Unanswered } from './unanswered.js';

/** Options of the instrumentation `mariadb`. */
export interface MariadbOptions extends DatabaseOptions, ModuleOptions {}

/** What makes connections and pools, in both of its entries. */
const CLUSTER = 'createPoolCluster';
const MAKERS = ['createConnection', 'createPool', CLUSTER];
const ENTRIES = ['mariadb', 'mariadb/callback'];
const FILES = ['mariadb/promise.js', 'mariadb/callback.js'];

const ASKING = ['query', 'queryStream', 'execute', 'batch'];
/** What is sent for methods that are given no text. */
const TEXTS: Readonly<Record<string, string>> = {
  beginTransaction: 'START TRANSACTION',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
};

interface Made {
  readonly info?: { readonly database?: unknown; readonly port?: unknown };
}
/** How a method asks. */
interface Asking {
  /** Its text, of what it is called with. */
  readonly read: (args: readonly unknown[]) => unknown;
  /** The connection, where it is not the receiver. */
  readonly where?: object;
  /** Where the callback goes of a method that gives nothing back. */
  readonly silentAt?: number | undefined;
}
/** One of pools. */
interface Cluster {
  /** All that shows what its nodes are made into: with callbacks it hides the rest. */
  readonly __tests?: { getNodes(): Readonly<Record<string, object>> };
}
/** A statement that was prepared. */
interface Statement {
  readonly query?: unknown;
  execute?: Method;
  executeStream?: Method;
}

/** Not by `URL`, for which a password with `#` or `?` ends the address: a user would be the server, and a part of the password its port. */
const ADDRESS = /^[^:]*:\/\/([^/]*)\/([^?]*)/;

/** Of the options, or the address in their place. */
export const serverOf = (options: unknown): Server => {
  if (typeof options === 'string') {
    const [, authority = '', database = ''] = ADDRESS.exec(options) ?? [];
    const [host, port] = hostAndPort(authority.slice(authority.lastIndexOf('@') + 1));
    return mysqlServer({ host, port, database: decodeURIComponent(database) });
  }
  return mysqlServer(options);
};

/** The first number of an error of the driver's own. */
const OF_DRIVER = 45_000;

/** As the driver says it where it can still ask the server to stop; where it cannot, it says nothing. */
const DESTROYED = { code: 'ER_CMD_NOT_EXECUTED_DESTROYED' };

const textOf = (given: unknown): unknown => (typeof given === 'string' ? given : fieldOf(given, 'sql'));

/** The pool that `add` of a cluster has made, and the options of it. */
const addedTo = (
  { __tests }: Cluster,
  [id, config]: readonly unknown[],
): readonly [pool: unknown, options: unknown] => {
  const nodes = __tests?.getNodes() ?? {};
  const isNamed = typeof id === 'string' || id instanceof String;
  return isNamed ? [nodes[String(id)], config] : [Object.values(nodes).at(-1), id];
};

/** Hears the callback among `args`, which comes last, in the context of the caller. Its place; -1 where there is none. */
const hearCallback = (args: unknown[], caller: Caller, ended: Ending): number => {
  const at = args.findLastIndex((argument) => typeof argument === 'function');
  if (at >= 0) args[at] = boundFor(caller, args[at], ended);
  return at;
};

/** The place of the callback, last of `count` parameters: with promises there is one less. */
const callbackOf = ({ length }: Method, count: number): number | undefined =>
  length === count ? count - 1 : undefined;

/** With the events of a stream, or of a query, which fails with the event of its end. Without `ended` its listeners alone are the caller's. */
const endingAtEnd = (caller: Caller, emitter: EventEmitter, ended: Ending | undefined): void =>
  emitFor(caller, emitter, (name, value) => {
    if (name === 'error' || name === 'end') ended?.(value);
    else if (name === 'close') ended?.(undefined);
  });

/** An ES module is not, whose functions are handed over by their file, nor what a bundle exports, of which a copy is. */
const isChangeable = (entry: object): boolean => {
  const { set, writable } = Object.getOwnPropertyDescriptor(entry, MAKERS[0]) ?? {};
  return !types.isModuleNamespaceObject(entry) && (writable === true || set !== undefined);
};

/** Classes of connections and pools, and where each of those goes: a program makes them once, whatever is switched over later. */
const MADE = new KnownClasses();
const servers = new WeakMap<object, Server>();

/** Of the instrumentation that is on: a statement that was prepared has its methods replaced once for all. */
let executing: ((execute: Method, statement: Statement, connection: object) => Method) | undefined;

const seeStatement = quiet((statement: Statement, connection: object): void => {
  for (const name of ['execute', 'executeStream'] as const) {
    const method = statement[name];
    if (typeof method !== 'function') continue;
    const asked: Method = function (this: unknown, ...args) {
      return Reflect.apply(executing?.(method, statement, connection) ?? method, this, args);
    };
    statement[name] = lookAlike(asked, method);
  }
});

/** mariadb 3. */
export const instrumentMariadb = (options: MariadbOptions): Off => {
  const mariadb = new Database('mariadb', 'mariadb', options, errorNumber(OF_DRIVER));
  const unanswered = new Unanswered(DESTROYED);

  /** What asks by another method, as `beginTransaction` of 3.3 by `query`, asks once. */
  let isAsking = false;
  /** A callback may come before its call returns, and asks for itself. */
  const notAsking = (callback: Callback): Callback =>
    function (this: unknown, ...args) {
      const wasAsking = isAsking;
      isAsking = false;
      try {
        return Reflect.apply(callback, this, args);
      } finally {
        isAsking = wasAsking;
      }
    };
  const begin = quiet((asked: object, text: unknown): Begun | undefined => {
    if (isAsking) return undefined;
    const { info } = asked as Made;
    const server = servers.get(asked) ?? { database: info?.database, serverPort: info?.port };
    const span = mariadb.start(server, sqlOperation(text, 'mysql'));
    return span?.isRecording === true ? span : undefined;
  });

  /**
   * `ask`, a span each time; its callback comes last, and without one there is a promise or what has events. Where there is neither, one of ours comes at
   * `silentAt`.
   */
  const asking = (ask: Method, { read, where, silentAt }: Asking): Method =>
    function (this: unknown, ...args) {
      const caller = callerHere();
      const asked = where ?? (this as object);
      const span = begin(asked, read(args));
      const ended = span === undefined ? () => {} : unanswered.follow(asked, (error) => mariadb.end(span, error));
      let calledBackAt = hearCallback(args, caller, ended);
      if (calledBackAt < 0 && silentAt !== undefined && span !== undefined && (args[silentAt] ?? null) === null) {
        args[silentAt] = ended;
        calledBackAt = silentAt;
      } else if (calledBackAt >= 0) args[calledBackAt] = notAsking(args[calledBackAt] as Callback);
      const wasAsking = isAsking;
      let result: unknown;
      try {
        isAsking = true;
        result = Reflect.apply(ask, this, args);
      } catch (error) {
        ended(reasonOf(error));
        throw error;
      } finally {
        isAsking = wasAsking;
      }
      if (isThenable(result)) return span === undefined ? result : endingWith(result, ended);
      // A callback knows better.
      if (isEmitter(result)) endingAtEnd(caller, result, calledBackAt < 0 ? ended : undefined);
      else if (calledBackAt < 0) ended(undefined);
      return result;
    };

  /** `method`, of which `see` gets the result, and the owner. */
  const seeing =
    (see: (given: unknown, of: object) => void) =>
    (method: Method): Method =>
      function (this: unknown, ...args) {
        const seen = (_: unknown, given: unknown): void => see(given, this as object);
        hearCallback(args, callerHere(), seen);
        const result = Reflect.apply(method, this, args);
        return isThenable(result) ? endingWith(result, seen) : result;
      };
  const preparing = seeing((statement, connection) => seeStatement(Object(statement) as Statement, connection));
  /** What a pool gives goes where the pool goes; that of a cluster is from one of its pools. */
  const getting = seeing((connection, pool) => seeMade(connection, servers.get(pool)));

  const patch = (prototype: Prototype): Off => {
    const offs = [
      replaceMethod(prototype, 'prepare', preparing),
      replaceMethod(prototype, 'getConnection', getting),
      onReturn(prototype, 'add', (_, cluster: Cluster, args) => {
        const [pool, given] = addedTo(cluster, args);
        seeMade(pool, serverOf(given));
      }),
    ];
    // Those of a cluster ask connections that they get.
    if (Object.hasOwn(prototype, 'execute'))
      offs.push(
        ...ASKING.map((name) =>
          replaceMethod(prototype, name, (ask) => {
            // A query of a connection has events, and would get its rows in another form.
            const isSilent = name !== 'query' || 'getConnection' in prototype;
            return asking(ask, {
              read: ([given]) => textOf(given),
              silentAt: isSilent ? callbackOf(ask, 3) : undefined,
            });
          }),
        ),
        ...Object.entries(TEXTS).map(([name, text]) =>
          replaceMethod(prototype, name, (ask) => asking(ask, { read: () => text, silentAt: callbackOf(ask, 1) })),
        ),
      );
    return allOff(offs);
  };
  const classes = MADE.patch(patch);
  const destroyed = MADE.patch((prototype) => replaceMethod(prototype, 'destroy', unanswered.destroying));
  const seeMade = quiet((made: unknown, server: Server | undefined): void => {
    if (typeof made !== 'object' || made === null) return;
    if (server !== undefined) servers.set(made, server);
    classes.see(prototypeOf(made));
    destroyed.see(prototypeOf(made));
  });
  const making = (make: Method, name: string): Method =>
    function (this: unknown, ...args) {
      const made = Reflect.apply(make, this, args);
      // The nodes of a cluster have theirs.
      const server = name === CLUSTER ? undefined : quiet(serverOf)(args[0]);
      if (!isThenable(made)) seeMade(made, server);
      else return endingWith(made, (_, connection) => seeMade(connection, server));
      return made;
    };

  const patchEntry = (entry: Prototype): Off => {
    const { default: main } = entry as { readonly default?: unknown };
    const targets = typeof main === 'object' && main !== null ? [entry, main as Prototype] : [entry];
    return allOff(
      targets
        .filter(isChangeable)
        .flatMap((target) => MAKERS.map((name) => replaceMethod(target, name, (make) => making(make, name)))),
    );
  };
  const own: typeof executing = (execute, statement, connection) =>
    asking(execute, { read: () => statement.query, where: connection });
  executing = own;
  const stopBeginning = allOff([
    ...ENTRIES.map((name) => onCopy<Prototype>(name, name === 'mariadb' ? options.module : undefined, patchEntry)),
    ...FILES.map((file) => onFile(file, MAKERS, patchEntry)),
    () => {
      if (executing === own) executing = undefined;
      classes.off();
    },
  ]);
  return unanswered.off(stopBeginning, destroyed.off);
};
