// The routes of hapi, by its own extension point: the request is kept before it is routed, and asked for its route at the end of the answer.
import type { IncomingMessage } from 'node:http';
import { allOff, type Off, quiet } from './channel.js';
import { setLateRoute } from './http/request-span.js';
import { type ModuleOptions, onModule } from './on-module.js';
import { type Method, type Prototype, replaceMethod } from './replace-method.js';

interface Request {
  readonly raw: { readonly req: IncomingMessage };
  readonly route: { readonly method?: unknown; readonly path?: unknown };
}
interface Toolkit {
  readonly continue: symbol;
}
interface Server {
  ext(event: 'onRequest', method: (request: Request, toolkit: Toolkit) => symbol): void;
}

/** Those of hapi itself, for what is not found, have a method of no request. */
const routeOf = ({ route }: Request): string | undefined =>
  typeof route?.path === 'string' && route.method !== '_special' ? route.path : undefined;

const keep = quiet((request: Request) => setLateRoute(request.raw.req, () => routeOf(request)));

const extend = quiet((server: Server) =>
  server.ext('onRequest', (request, toolkit) => {
    keep(request);
    return toolkit.continue;
  }),
);

/** With `new` it gives the same. */
const extending = (make: Method): Method =>
  function (this: unknown, ...args) {
    const server = Reflect.apply(make, this, args);
    extend(server as Server);
    return server;
  };

/** hapi 20 and later. */
export const instrumentHapi = ({ module }: ModuleOptions): Off =>
  onModule<Prototype>('@hapi/hapi', module, (hapi) =>
    allOff(['server', 'Server'].map((name) => replaceMethod(hapi, name, extending))),
  );
