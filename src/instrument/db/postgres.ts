// Queries of postgres 3 (postgres.js), which publishes nothing: each is a promise that is sent when it is waited for, by its `handle`, which is wrapped. It
// ends where the connection settles it, by its own `resolve` and `reject`. The server that it goes to is known to none of its objects.
import { Counter, count } from '../../rows/counters.js';
import type { Off } from '../channel.js';
import { fieldOf, reasonOf } from '../failure.js';
import { boundFor, callerHere } from '../in-context.js';
import type { Begun } from '../measures.js';
import { type ModuleOptions, onModule } from '../on-module.js';
import { type Method, onCall, ownerOf, type Prototype, prototypeOf } from '../replace-method.js';
import { Database, type DatabaseOptions, type Operation, type Server, sqlOperation, sqlState } from './database.js';

/** Options of the instrumentation `postgres`. */
export interface PostgresOptions extends DatabaseOptions, ModuleOptions {}

/** `sql` of a program: a template gives a query. */
type Sql = (strings: TemplateStringsArray) => object;
type Postgres = (options: object) => Sql;

interface Query {
  readonly strings: readonly string[];
  readonly args: readonly unknown[];
  readonly executed: boolean;
  /** What the driver asks for itself has none. */
  readonly canceller?: unknown;
  /** Of a cursor. */
  readonly cursorRows?: unknown;
  /** What is called with rows, as they come. */
  cursorFn?: unknown;
  forEachFn?: unknown;
  resolve: Method;
  reject: Method;
}

const NOWHERE: Server = {};

/** Fragments in fragments. */
const DEEPEST = 16;

const isFragment = (value: unknown): value is Query =>
  Array.isArray(fieldOf(value, 'strings')) && Array.isArray(fieldOf(value, 'args'));

/** As it is sent, with `$` for each value, where a helper makes more of one `?`. */
const textOf = ({ strings, args }: Query, depth = 0): string => {
  const placed = (argument: unknown, i: number): string => {
    if (isFragment(argument)) return depth > DEEPEST ? '?' : textOf(argument, depth + 1);
    const kind = fieldOf(fieldOf(argument, 'constructor'), 'name');
    if (kind === 'Identifier') return String(fieldOf(argument, 'value'));
    return kind === 'Builder' ? '?' : `$${i}`;
  };
  return strings.length === 0 ? '' : strings.reduce((text, string, i) => text + placed(args[i - 1], i) + string);
};

/** Operations of templates, which are one object for each place in the program's code, whatever is put into them. */
const templates = new WeakMap<readonly string[], Operation>();

const isValue = (argument: unknown): boolean =>
  argument === null || (typeof argument !== 'object' && typeof argument !== 'function');

/** A text put together anew for each query would be read through to be looked up. */
const operationOf = (query: Query): Operation => {
  const { strings, args } = query;
  for (let i = 0; i < args.length; i++) if (!isValue(args[i])) return sqlOperation(textOf(query));
  const known = templates.get(strings);
  if (known !== undefined) return known;
  const operation = sqlOperation(textOf(query));
  // Nobody can change the strings of a template.
  if (Object.hasOwn(strings, 'raw') && Object.isFrozen(strings)) templates.set(strings, operation);
  return operation;
};

const end = (postgres: Database, begun: Begun, error: unknown): void => {
  try {
    postgres.end(begun, error);
  } catch {
    count(Counter.instrumentationErrors);
  }
};

/** It is settled once; a cursor that is iterated puts others in their places for each step. */
const hear = (query: Query, postgres: Database, begun: Begun): void => {
  // An accessor makes V8 keep the whole query as a dictionary, which the driver reads many times.
  if (query.cursorRows === undefined) {
    hearOnce(query, postgres, begun);
    return;
  }
  const ending =
    (errorOf: (given: unknown) => unknown) =>
    (settle: Method): Method =>
      function (this: unknown, ...args) {
        end(postgres, begun, errorOf(args[0]));
        return Reflect.apply(settle, this, args);
      };
  keepHearing(
    query,
    'resolve',
    ending(() => undefined),
  );
  keepHearing(query, 'reject', ending(reasonOf));
};

/** Gives the query back as it was: one that is kept must not keep its span. Each query gets these two functions, so they are all that is made for it. */
const hearOnce = (query: Query, postgres: Database, begun: Begun): void => {
  const { resolve, reject } = query;
  query.resolve = function (this: unknown, result: unknown) {
    restore(query, resolve, reject);
    end(postgres, begun, undefined);
    return Reflect.apply(resolve, this, [result]);
  };
  query.reject = function (this: unknown, error: unknown) {
    restore(query, resolve, reject);
    end(postgres, begun, reasonOf(error));
    return Reflect.apply(reject, this, [error]);
  };
};

const restore = (query: Query, resolve: Method, reject: Method): void => {
  query.resolve = resolve;
  query.reject = reject;
};

/** What is put there later is heard too. */
const keepHearing = (query: Query, name: 'resolve' | 'reject', heard: (settle: Method) => Method): void => {
  let current = heard(query[name]);
  Object.defineProperty(query, name, {
    configurable: true,
    enumerable: true,
    get: () => current,
    set: (settle: Method) => {
      current = heard(settle);
    },
  });
};

/** Rows come to the caller. */
const keepCaller = (query: Query): void => {
  if (typeof query.cursorFn === 'function') query.cursorFn = boundFor(callerHere(), query.cursorFn);
  if (typeof query.forEachFn === 'function') query.forEachFn = boundFor(callerHere(), query.forEachFn);
};

/** The class of queries, which is not exported: of one that is never sent. */
const queriesOf = (exports: Postgres | { readonly default?: unknown }): Prototype | undefined => {
  const postgres = typeof exports === 'function' ? exports : exports.default;
  if (typeof postgres !== 'function') return undefined;
  const sql = (postgres as Postgres)({ max: 1, no_subscribe: true });
  return ownerOf(prototypeOf(sql``), 'handle');
};

/** postgres 3. */
export const instrumentPostgres = (options: PostgresOptions): Off => {
  const postgres = new Database('postgres', 'postgresql', options, sqlState);
  const follow = (query: Query): void => {
    if (query.executed || typeof query.canceller !== 'function') return;
    keepCaller(query);
    const begun = postgres.start(NOWHERE, operationOf(query));
    if (begun?.isRecording === true) hear(query, postgres, begun);
  };
  return onModule<Postgres | { readonly default?: unknown }>('postgres', options.module, (exports) =>
    onCall(queriesOf(exports), 'handle', follow),
  );
};
