// Subject: the instruments of spanline.
import { Histogram, Instruments, LibraryMetrics, Span, SpanContext, setReporter } from '../../dist/bench/metrics.js';
import { BOUNDARIES, perRequest } from './shape.mjs';

setReporter({ name: 'noop', keepsNoTrace: true, report() {} });
const span = Span.root('request', SpanContext.random());
const KEYS = ['method', 'scheme', 'route', 'status', 'error.type', 'version'];

const histogram = () =>
  new Histogram({ name: 'd', unit: 's', description: '', keys: KEYS, boundaries: BOUNDARIES, hasExemplars: true });

// As instrumentations do: one list that is filled anew.
const set = new Array(6).fill(undefined);
const setOf = (route, { status, error }) => {
  set[0] = 'GET';
  set[1] = 'http';
  set[2] = route;
  set[3] = status;
  set[4] = error;
  set[5] = '1.1';
  return set;
};

const [plain, sampled, full] = [histogram(), histogram(), histogram()];
const library = new LibraryMetrics(new Instruments());
const routes = Array.from({ length: 10_000 }, (_, i) => `/${i}`);

export const subject = 'spanline';
export const cases = [
  perRequest('measurement', 'without a span', (one) => plain.record(one.seconds, setOf(one.route, one))),
  perRequest('measurement', 'sampled span', (one) => sampled.record(one.seconds, setOf(one.route, one), span)),
  perRequest('measurement', 'more sets than kept', (one, i) =>
    full.record(one.seconds, setOf(routes[i % routes.length], one)),
  ),
  perRequest('request', 'without a span', ({ route, status, error }) => {
    const request = library.serverBegan('GET', 'http');
    library.serverEnded(request, route, { status, errorType: error, version: '1.1' });
  }),
];
