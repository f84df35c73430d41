// The routes of hapi, from the method by which a request is routed: an extension, which hapi waits for in each request, takes five promises. Where a version has
// no such method it is an extension.
import type { IncomingMessage } from 'node:http';
import { allOff, type Off, quiet } from './channel.js';
import { offerRoute } from './http/request-span.js';
import { type ModuleOptions, onModule } from './on-module.js';
import { KnownClasses, onReturn, ownerOf, type Prototype } from './replace-method.js';

interface Request {
  readonly raw: { readonly req: IncomingMessage };
  readonly route: { readonly method?: unknown; readonly path?: unknown };
}
interface Toolkit {
  readonly continue: symbol;
}
interface Server {
  readonly _core?: { readonly Request?: { readonly prototype?: Prototype } };
  ext(event: 'onRequest', method: (request: Request, toolkit: Toolkit) => symbol): void;
}

/** Those of hapi itself, for what is not found, have a method of no request. */
const routeOf = ({ route }: Request): string | undefined =>
  typeof route?.path === 'string' && route.method !== '_special' ? route.path : undefined;

const keep = quiet((request: Request) => offerRoute(request.raw.req, () => routeOf(request)));

const note = (_: unknown, request: Request): void => {
  const route = routeOf(request);
  if (route !== undefined) offerRoute(request.raw.req, route);
};

const REQUESTS = new KnownClasses();

/** hapi 20 and later. */
export const instrumentHapi = ({ module }: ModuleOptions): Off => {
  const requests = REQUESTS.patch((request) => onReturn(request, '_lookup', note));
  const extend = (server: Server): void => {
    const routed = ownerOf(server._core?.Request?.prototype, '_lookup');
    if (routed !== undefined) requests.see(routed);
    else
      server.ext('onRequest', (request, toolkit) => {
        keep(request);
        return toolkit.continue;
      });
  };
  return allOff([
    requests.off,
    // With `new` it gives the same.
    onModule('@hapi/hapi', module, (hapi) => allOff(['server', 'Server'].map((name) => onReturn(hapi, name, extend)))),
  ]);
};
