// Queries of pg, which publishes nothing: `Client.prototype.query` is wrapped, and must give what it gave. The end of a query is heard at the
// callback of the query itself, which every form of the call ends in.
import { AsyncResource } from 'node:async_hooks';
import { Counter, count } from '../../local-span/counters.js';
import type { Span } from '../../span/span.js';
import { allOff, type Off, quiet } from '../channel.js';
import { type ModuleOptions, onModule } from '../on-module.js';
import { addPeer, type Peer } from '../peer.js';
import { type Method, type Prototype, replaceMethod } from '../replace-method.js';
import { codeUnder, Database, type DatabaseOptions, sqlOperation } from './database.js';

type Callback = (this: unknown, error: unknown, ...rest: unknown[]) => unknown;
type Query = (this: Client, ...args: unknown[]) => unknown;
interface Client {
  readonly host?: unknown;
  readonly port?: unknown;
  readonly database?: unknown;
  readonly connection?: { readonly stream?: Peer };
}
interface Pg {
  readonly Client?: { readonly prototype: Prototype };
  readonly Pool?: { readonly prototype: Prototype };
}

/** Options of the instrumentation `pg`. */
export interface PgOptions extends DatabaseOptions, ModuleOptions {}

const statusOf = codeUnder('code');

const textOf = (config: unknown): unknown =>
  typeof config === 'string' ? config : (Object(config) as { text?: unknown }).text;

/** pg 8, its JavaScript client. */
export const instrumentPg = (options: PgOptions): Off => {
  const postgres = new Database('pg', 'postgresql', options);

  const wrap = (query: Query): Query => {
    const traced = function (this: Client, ...args: unknown[]): unknown {
      let span: Span | undefined;
      try {
        const { host, port, database } = this;
        span = postgres.start({ serverAddress: host, serverPort: port, database }, sqlOperation(textOf(args[0])));
      } catch {
        count(Counter.instrumentationErrors);
      }
      return span === undefined || !span.isRecording
        ? Reflect.apply(query, this, args)
        : follow(span, this, query, args);
    };
    return Object.defineProperties(traced, { name: { value: 'query' }, length: { value: query.length } });
  };

  const follow = (span: Span, client: Client, query: Query, args: unknown[]): unknown => {
    const ended = quiet((error: unknown) => {
      if (!span.isRecording) return;
      addPeer(span, client.connection?.stream ?? {});
      postgres.finish(span, error ?? undefined, statusOf);
      span.end();
    });
    // With a callback of the caller, as an argument or in the query, that is where it ends; it is to run in the caller's context.
    const at = args.findIndex((argument) => typeof argument === 'function');
    if (at >= 0) args[at] = endingFirst(args[at] as Callback, ended);
    const config = args[0] as { submit?: unknown; callback?: unknown };
    const isQuery = typeof config === 'object' && config !== null && typeof config.submit === 'function';
    if (at < 0 && typeof config?.callback === 'function') {
      const callback = endingFirst(config.callback as Callback, ended);
      if (isQuery) config.callback = callback;
      else args[0] = { ...config, callback };
    }
    let result: unknown;
    try {
      result = Reflect.apply(query, client, args);
    } catch (error) {
      ended(error);
      throw error;
    }
    if (at < 0 && typeof (result as PromiseLike<unknown>)?.then === 'function') {
      // Another promise on the side would answer for a failure that the program leaves unhandled.
      return (result as PromiseLike<unknown>).then(
        (value) => {
          ended(undefined);
          return value;
        },
        (error: unknown) => {
          ended(error);
          throw error;
        },
      );
    }
    if (typeof (result as NodeJS.EventEmitter)?.once === 'function') {
      (result as NodeJS.EventEmitter).once('end', () => ended(undefined)).once('close', () => ended(undefined));
      // A listener for errors would keep an unheard one from being thrown.
      heedErrors(result as NodeJS.EventEmitter, ended);
    } else if (at < 0 && typeof config?.callback !== 'function') ended(undefined);
    return result;
  };

  return onModule<Pg>('pg', options.module, ({ Client, Pool }) => {
    if (Client === undefined) return undefined;
    return allOff([
      replaceMethod(Client.prototype, 'query', wrap as (query: Method) => Method),
      ...(Pool === undefined ? [] : [keepWaiting(Pool.prototype)]),
    ]);
  });
};

/** Who waits in a pool for a client gets it in its own context, not in that of who gave it back. */
const keepWaiting = (pool: Prototype): Off => {
  let owner = pool;
  while (!Object.hasOwn(owner, 'connect')) owner = Object.getPrototypeOf(owner) as Prototype;
  return replaceMethod(
    owner,
    'connect',
    (connect): Method =>
      function (this: unknown, callback) {
        const bound = typeof callback === 'function' ? AsyncResource.bind(callback as Callback) : callback;
        return Reflect.apply(connect, this, [bound]);
      },
  );
};

const heedErrors = (emitter: NodeJS.EventEmitter, ended: (error: unknown) => void): void => {
  const { emit } = emitter;
  emitter.emit = function (this: NodeJS.EventEmitter, name: string | symbol, ...args: unknown[]): boolean {
    if (name === 'error') ended(args[0]);
    return Reflect.apply(emit, this, [name, ...args]);
  };
};

const endingFirst = (callback: Callback, ended: (error: unknown) => void): Callback =>
  function (this: unknown, error: unknown, ...rest: unknown[]): unknown {
    ended(error);
    return Reflect.apply(callback, this, [error, ...rest]);
  };
