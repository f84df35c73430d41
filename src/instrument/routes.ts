// The route that answers a request, from the frameworks that publish it: the request's own span gets its name and `http.route`. Express is read
// at the end of the answer where its router publishes nothing (see `routeOf`).
import type { IncomingMessage } from 'node:http';
import { allOff, type Off, onMessage } from './channel.js';
import { expressRoute, setRoute } from './http/request-span.js';

interface FastifyHandler {
  readonly request: { readonly raw: IncomingMessage };
  readonly route?: { readonly url?: string };
}

/** fastify 5: the template, with the prefixes of its plugins. */
export const instrumentFastify = (): Off =>
  onMessage<FastifyHandler>('tracing:fastify.request.handler:start', ({ request, route }) => {
    if (typeof route?.url === 'string') setRoute(request.raw, route.url);
  });

interface ExpressLayer {
  readonly req: IncomingMessage & { readonly baseUrl?: string };
  readonly route?: { readonly path?: unknown };
}

/** express 5, by router 2.3: each layer of a route, while the prefix of the routers around it still stands. */
export const instrumentExpress = (): Off =>
  allOff([
    onMessage<ExpressLayer>('tracing:express.router.request:start', ({ req, route }) => {
      const template = expressRoute(req.baseUrl, route?.path);
      if (template !== undefined) setRoute(req, template);
    }),
  ]);
