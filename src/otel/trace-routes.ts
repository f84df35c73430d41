// The route of a request that a framework puts on a span of its own, made by OpenTelemetry's API: Next.js, SvelteKit, and official instrumentations of
// routers. Kept by the trace, for the request's own span, which has none where no instrumentation supports the framework.
import type { ActiveTrace } from '../span/active-trace.js';
import type { Span } from '../span/span.js';

const HTTP_ROUTE = 'http.route';
/** Next.js has it on spans inside the one that gets `http.route`, which ends behind the answer. */
const NEXT_ROUTE = 'next.route';

const routes = new WeakMap<ActiveTrace, string>();

/** Whether an attribute contains a route. */
export const isRoute = (key: string): boolean => key === HTTP_ROUTE || key === NEXT_ROUTE;

/** The last one counts: the span further in is more precise. */
export const noteRoute = ({ trace }: Span, route: unknown): void => {
  if (trace !== null && typeof route === 'string' && route !== '') routes.set(trace, route);
};

/** Of the part of a trace that `root` has begun in this process. */
export const routeBelow = (root: Span): string | undefined =>
  root.trace === null ? undefined : routes.get(root.trace);
