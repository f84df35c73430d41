// The route that answers a request, from the frameworks that publish it: the request's own span gets its name and `http.route`.
import type { IncomingMessage } from 'node:http';
import { allOff, type Off, onMessage, quiet } from './channel.js';
import { setRoute } from './http/request-span.js';

interface FastifyHandler {
  readonly request: { readonly raw: IncomingMessage };
  readonly route?: { readonly url?: string };
}

type Hook = (
  request: { readonly raw: IncomingMessage; readonly routeOptions?: { readonly url?: unknown } },
  reply: unknown,
  done: () => void,
) => void;

interface FastifyStart {
  readonly fastify: { addHook(name: 'onRequest', hook: Hook): unknown };
}

/** A request that is refused before its handler has a route too, which no channel gives: the first of its hooks does. */
const nameRoute = quiet(({ raw, routeOptions }: Parameters<Hook>[0]) => {
  if (typeof routeOptions?.url === 'string') setRoute(raw, routeOptions.url);
});

/** fastify 5: the template, with the prefixes of its plugins. */
export const instrumentFastify = (): Off =>
  allOff([
    onMessage<FastifyStart>('fastify.initialization', ({ fastify }) => {
      fastify.addHook('onRequest', (request, _, done) => {
        nameRoute(request);
        done();
      });
    }),
    // For what was made before.
    onMessage<FastifyHandler>('tracing:fastify.request.handler:start', ({ request, route }) => {
      if (typeof route?.url === 'string') setRoute(request.raw, route.url);
    }),
  ]);

interface H3Request {
  readonly type?: unknown;
  readonly event?: {
    readonly context?: { readonly matchedRoute?: { readonly route?: unknown } };
    readonly runtime?: { readonly node?: { readonly req?: IncomingMessage } };
  };
}

/** h3 2, where the program uses its plugin `h3/tracing`. */
export const instrumentH3 = (): Off =>
  onMessage<H3Request>('tracing:h3.request:start', ({ type, event }) => {
    const route = event?.context?.matchedRoute?.route;
    const request = event?.runtime?.node?.req;
    if (type === 'route' && typeof route === 'string' && request !== undefined) setRoute(request, route);
  });
