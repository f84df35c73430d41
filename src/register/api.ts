// What is written for OpenTelemetry's API, recorded here: provider, context manager and propagation of the API, through the package that the program
// has, or for the copies inside its bundles. Must work without any.
import type { TextMapGetter, TextMapPropagator } from '@opentelemetry/api';
import { onRoute } from '../instrument/http/request-span.js';
import { fromPlace } from '../instrument/other-context.js';
import { type IncomingHeaders, type Propagator, w3c } from '../instrument/propagator.js';
import type { ApiParts } from '../otel/api-global.js';
import { contexts, deleteSpan, getBaggage, getSpanContext, setSpanContext } from '../otel/api-values.js';
import { activeContext, SpanlineContextManager } from '../otel/context-manager.js';
import { toSpanContext } from '../otel/otel-span.js';
import { B3Propagator } from '../otel/propagators/b3.js';
import { W3CBaggagePropagator } from '../otel/propagators/baggage.js';
import { CompositePropagator } from '../otel/propagators/header-values.js';
import { JaegerPropagator } from '../otel/propagators/jaeger.js';
import { W3CTraceContextPropagator } from '../otel/propagators/trace-context.js';
import { RecordingProvider } from '../otel/recording-provider.js';
import { routeBelow } from '../otel/trace-routes.js';
import { type Api, findApi } from './find-api.js';
import type { Log } from './log.js';
import type { PropagatorName, Settings } from './settings.js';
import { shareParts } from './share-parts.js';

const MAKERS: Readonly<Record<Exclude<PropagatorName, 'none'>, () => TextMapPropagator>> = {
  tracecontext: () => new W3CTraceContextPropagator(),
  baggage: () => new W3CBaggagePropagator(),
  b3: () => new B3Propagator(),
  b3multi: () => new B3Propagator({ multipleHeaders: true }),
  jaeger: () => new JaegerPropagator(),
};

const compositeOf = (names: readonly PropagatorName[]): TextMapPropagator =>
  new CompositePropagator(names.flatMap((name) => (name === 'none' ? [] : [MAKERS[name]()])));

const GETTER: TextMapGetter<IncomingHeaders> = {
  keys: (headers) => Object.keys(headers),
  get: (headers, name) => headers[name.toLowerCase()] as string | string[] | undefined,
};

/** One of the API's for our own instrumentations. Baggage that a program has written by itself is not of a context. */
const asOurs = (propagator: TextMapPropagator): Propagator => ({
  fields: () => propagator.fields().filter((name) => name !== 'baggage'),
  extract(headers) {
    const found = getSpanContext(propagator.extract(contexts.root, headers, GETTER));
    return found === undefined ? undefined : fromPlace(found);
  },
  carried(headers) {
    const context = propagator.extract(contexts.root, headers, GETTER);
    return getBaggage(context) === undefined ? undefined : deleteSpan(context);
  },
  inject(context, set) {
    const from = setSpanContext(activeContext(), toSpanContext(context));
    propagator.inject(from, undefined, { set: (_, name, value) => set(name, value) });
  },
});

/** Baggage, which most requests have not, looked for in its own header only. */
const baggageBeside = (isWanted: boolean): Partial<Propagator> => {
  if (!isWanted) return {};
  const baggage = new W3CBaggagePropagator();
  const ours = asOurs(baggage);
  return {
    carried: (headers) => (headers.baggage === undefined ? undefined : ours.carried?.(headers)),
    inject(context, set) {
      w3c.inject(context, set);
      const active = activeContext();
      if (getBaggage(active) === undefined) return;
      baggage.inject(active, undefined, { set: (_, name, value) => set(name, value) });
    },
  };
};

/** By a package, so that tracers it has given already record as well; it reports to its own logger what was set before. */
const registerThrough = (
  api: Api,
  { trace, context, propagation }: Required<Pick<ApiParts, 'trace' | 'context' | 'propagation'>>,
): void => {
  contexts.root = api.ROOT_CONTEXT;
  api.trace.setGlobalTracerProvider(trace);
  api.context.setGlobalContextManager(context);
  api.propagation.setGlobalPropagator(propagation);
};

/** Make the API ours; gives how contexts travel. */
export const registerApi = ({ propagators: names, apiLimits }: Settings, log: Log): Propagator => {
  const propagation = compositeOf(names);
  const context = new SpanlineContextManager().enable();
  const trace = new RecordingProvider(apiLimits);
  const api = findApi();
  const parts = { trace, context, propagation };
  if (api !== undefined) registerThrough(api, parts);
  shareParts(parts, () =>
    log.warn(
      '@opentelemetry/api is in a bundle without its version: it may refuse a MeterProvider or a logger. Leave the package out of the bundle.',
    ),
  );
  onRoute((_, span) => routeBelow(span));
  const isDefault =
    names.every((name) => name === 'tracecontext' || name === 'baggage') && names.includes('tracecontext');
  return isDefault ? { ...w3c, ...baggageBeside(names.includes('baggage')) } : asOurs(propagation);
};
