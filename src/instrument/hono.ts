// Routes of hono, which publishes nothing: the handlers that its router is given are wrapped, and say their route when they are called. On
// Node's server alone, which hands the request of Node on.
import type { IncomingMessage } from 'node:http';
import { lookAlike } from '../base/calls/look-alike.js';
import { Counter, count } from '../rows/counters.js';
import { allOff, type Off } from './channel.js';
import { setRoute } from './http/request-span.js';
import { type ModuleOptions, onModule } from './on-module.js';
import { type Method, type Prototype, replaceMethod } from './replace-method.js';

type Handler = (context: Context, next: unknown) => unknown;
interface Context {
  readonly env?: { readonly incoming?: IncomingMessage };
}
interface Route {
  readonly path: string;
  readonly method: string;
  readonly handler: Handler;
}
interface Hono {
  readonly Hono?: (new () => { readonly router: object }) & { readonly prototype: Prototype };
}

// What hono keeps of a handler that it has put the `onError` of a sub-application around.
const INNER = '__COMPOSED_HANDLER';

const innermost = (handler: Handler): Handler => {
  let inner = handler;
  for (let next: unknown = inner; typeof next === 'function'; next = (inner as { [INNER]?: unknown })[INNER])
    inner = next as Handler;
  return inner;
};

const isEntry = (entry: unknown): entry is readonly [Handler, Route] =>
  Array.isArray(entry) && typeof entry[0] === 'function' && typeof (entry[1] as Route | undefined)?.path === 'string';

/** Not by `quiet`, which makes a list of arguments for each call. */
const sayRoute = (context: Context, path: string): void => {
  try {
    const incoming = context.env?.incoming;
    if (incoming !== undefined) setRoute(incoming, path);
  } catch {
    count(Counter.instrumentationErrors);
  }
};

const sayingRoute = ([handler, route]: readonly [Handler, Route]): readonly [Handler, Route] => {
  const wrapped = function (this: unknown, context: Context, next: unknown): unknown {
    sayRoute(context, route.path);
    return Reflect.apply(handler, this, [context, next]);
  };
  return [lookAlike(wrapped, handler), route];
};

/** hono 4, with its own routers. */
export const instrumentHono = ({ module }: ModuleOptions): Off =>
  onModule<Hono>('hono', module, ({ Hono }) => {
    if (typeof Hono !== 'function') return undefined;
    // Applications of others that are mounted look like middleware.
    const mounted = new WeakSet<Handler>();
    let isMounting = false;

    /** Middleware takes `next`, for all methods. */
    const isMiddleware = ({ method, handler }: Route): boolean => {
      const inner = innermost(handler);
      return method === 'ALL' && inner.length > 1 && !mounted.has(inner);
    };

    const seeAdd = (add: Method): Method =>
      function (method, path, entry) {
        if (!isEntry(entry)) return Reflect.apply(add, this, [method, path, entry]);
        if (isMounting) mounted.add(entry[0]);
        return Reflect.apply(add, this, [method, path, isMiddleware(entry[1]) ? entry : sayingRoute(entry)]);
      };

    const seeMount = (mount: Method): Method =>
      function (...args) {
        isMounting = true;
        try {
          return Reflect.apply(mount, this, args);
        } finally {
          isMounting = false;
        }
      };

    return allOff([
      replaceMethod(Object.getPrototypeOf(new Hono().router) as Prototype, 'add', seeAdd),
      replaceMethod(Hono.prototype, 'mount', seeMount),
    ]);
  });
