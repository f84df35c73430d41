// Subject: OpenTelemetry's metrics SDK, called as its instrumentation of HTTP does.
import { api, contextManager, meter, subject as name, optionsOf } from '../peers/otel-metrics.mjs';
import { BOUNDARIES, perRequest } from './shape.mjs';

const { context, trace, TraceFlags } = api;
context.setGlobalContextManager(contextManager.enable());
const span = trace.setSpanContext(context.active(), {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  traceFlags: TraceFlags.SAMPLED,
});

const attributesOf = (route, { status, error }) => {
  const attributes = {
    'http.request.method': 'GET',
    'url.scheme': 'http',
    'http.route': route,
    'http.response.status_code': status,
    'network.protocol.version': '1.1',
  };
  if (error !== undefined) attributes['error.type'] = error;
  return attributes;
};

const histogram = (id) => meter.createHistogram(id, optionsOf(BOUNDARIES));
const [plain, sampled, full, requests] = ['plain', 'sampled', 'full', 'requests'].map(histogram);
const active = meter.createUpDownCounter('active');
const routes = Array.from({ length: 10_000 }, (_, i) => `/${i}`);
const seconds = (since) => {
  const [s, ns] = process.hrtime(since);
  return s + ns / 1e9;
};

export const subject = name;
export const cases = [
  perRequest('measurement', 'without a span', (one) => plain.record(one.seconds, attributesOf(one.route, one))),
  // The context is given: what it costs to find it is not counted.
  perRequest('measurement', 'sampled span', (one) => sampled.record(one.seconds, attributesOf(one.route, one), span)),
  perRequest('measurement', 'more sets than kept', (one, i) =>
    full.record(one.seconds, attributesOf(routes[i % routes.length], one)),
  ),
  perRequest('request', 'without a span', ({ route, ...one }) => {
    const began = { 'http.request.method': 'GET', 'url.scheme': 'http' };
    active.add(1, began);
    const begin = process.hrtime();
    active.add(-1, began);
    requests.record(seconds(begin), attributesOf(route, one));
  }),
];
