// The route of a request that a framework puts on a span of its own, made by OpenTelemetry's API: Next.js, SvelteKit, and official instrumentations of
// routers. Kept by the trace, for the request's own span, which has none where no instrumentation supports the framework.
import { nameText } from '../rows/property.js';
import type { ActiveTrace } from '../span/active-trace.js';
import type { Span } from '../span/span.js';

const HTTP_ROUTE = 'http.route';
/** Next.js has it on spans inside the one that gets `http.route`, which ends behind the answer. */
const NEXT_ROUTE = 'next.route';

/** What SvelteKit writes for a request that nothing answers. */
const NO_ROUTE = 'unknown';
/** Begins the names of its spans. */
const OF_SVELTEKIT = 'sveltekit.';

/** Empty where the framework reports that there is none. */
const routes = new WeakMap<ActiveTrace, string>();

/** Whether an attribute contains a route. */
export const isRoute = (key: string): boolean => key === HTTP_ROUTE || key === NEXT_ROUTE;

/**
 * The last one counts: the span further in is more precise. Of SvelteKit the first does: what a page fetches from endpoints of the same program is
 * answered without a request, by spans below that have the routes of those.
 */
export const noteRoute = ({ trace, name }: Span, route: unknown): void => {
  if (trace === null || typeof route !== 'string' || route === '') return;
  if (!nameText(name).startsWith(OF_SVELTEKIT)) routes.set(trace, route);
  else if (!routes.has(trace)) routes.set(trace, route === NO_ROUTE ? '' : route);
};

/** Of the part of a trace that `root` has begun in this process. */
export const routeBelow = (root: Span): string | undefined =>
  root.trace === null ? undefined : routes.get(root.trace) || undefined;
