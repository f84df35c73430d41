// Routes of koa, which publishes nothing and has its routers from elsewhere: they leave what matched on koa's context, which is kept for the
// end of the answer.
import type { IncomingMessage } from 'node:http';
import { type Off, quiet } from './channel.js';
import { setLateRoute } from './http/request-span.js';
import { type ModuleOptions, onModule } from './on-module.js';
import { type Prototype, replaceMethod } from './replace-method.js';

interface Layer {
  readonly path?: unknown;
  readonly methods?: readonly string[];
}
/** As `@koa/router` and koa-router leave it. */
interface Context {
  readonly req: IncomingMessage;
  readonly matched?: readonly Layer[];
  /** The path of the layer that ran last, which may be a middleware's. */
  readonly _matchedRoute?: unknown;
}

const isRouteFor =
  (method: string | undefined) =>
  ({ path, methods }: Layer): boolean =>
    typeof path === 'string' && method !== undefined && methods?.includes(method) === true;

const routeOf = ({ req, matched, _matchedRoute: last }: Context): string | undefined => {
  if (!Array.isArray(matched)) return typeof last === 'string' ? last : undefined;
  const routes = (matched as Layer[]).filter(isRouteFor(req.method));
  return (routes.find(({ path }) => path === last) ?? routes.at(-1))?.path as string | undefined;
};

/** koa 2 and 3, with the routers `@koa/router` and koa-router. */
export const instrumentKoa = ({ module }: ModuleOptions): Off =>
  onModule<{ readonly prototype?: Prototype }>('koa', module, ({ prototype }) =>
    replaceMethod(prototype, 'createContext', (create) => {
      const keep = quiet((context: Context) => setLateRoute(context.req, () => routeOf(context)));
      return function (...args) {
        const context = Reflect.apply(create, this, args);
        keep(context as Context);
        return context;
      };
    }),
  );
