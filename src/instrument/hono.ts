// Routes of hono, which publishes nothing: the handlers that its router is given are wrapped, and say their route when they are called. On
// Node's server alone, which hands the request of Node on.
import type { IncomingMessage } from 'node:http';
import { type Off, quiet } from './channel.js';
import { setRoute } from './http/request-span.js';
import { type ModuleOptions, onModule } from './on-module.js';
import { type Prototype, replaceMethod } from './replace-method.js';

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
  readonly Hono?: new () => { readonly router: object };
}

/** Middleware takes `next`, for all methods. */
const isMiddleware = ({ method, handler }: Route): boolean => method === 'ALL' && handler.length > 1;

const isEntry = (entry: unknown): entry is readonly [Handler, Route] =>
  Array.isArray(entry) && typeof entry[0] === 'function' && typeof (entry[1] as Route | undefined)?.path === 'string';

const sayingRoute = ([handler, route]: readonly [Handler, Route]): readonly [Handler, Route] => {
  const say = quiet(({ env }: Context) => {
    if (env?.incoming !== undefined) setRoute(env.incoming, route.path);
  });
  const wrapped = function (this: unknown, context: Context, next: unknown): unknown {
    say(context);
    return Reflect.apply(handler, this, [context, next]);
  };
  return [Object.assign(wrapped, handler), route];
};

/** hono 4, with its own routers. */
export const instrumentHono = ({ module }: ModuleOptions): Off =>
  onModule<Hono>('hono', module, ({ Hono }) => {
    if (typeof Hono !== 'function') return undefined;
    const prototype = Object.getPrototypeOf(new Hono().router) as Prototype;
    return replaceMethod(
      prototype,
      'add',
      (add) =>
        function (method, path, entry) {
          const wanted = isEntry(entry) && !isMiddleware(entry[1]);
          return Reflect.apply(add, this, [method, path, wanted ? sayingRoute(entry) : entry]);
        },
    );
  });
