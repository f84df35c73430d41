// Spans of a shop of twelve services as they report them: each trace has eight spans of each service, and a service has segments of its own. The same
// numbers give the same spans everywhere.
import { createHash } from 'node:crypto';

export const SERVICES = [
  ...['gateway', 'cart', 'catalog', 'checkout', 'payment', 'shipping', 'currency', 'ads'],
  ...['email', 'accounts', 'stock', 'search'],
];
const SPANS_OF_PART = 8;
const SCOPE = { name: '@opentelemetry/instrumentation-http', version: '0.52.1', properties: {} };
const ROUTES = ['/api/items/:id', '/api/carts/:id', '/api/orders', '/api/prices', '/api/users/:id/orders'];
const STATEMENTS = Array.from({ length: 20 }, (_, i) => `SELECT id, name, price_${i} FROM items_${i} WHERE id = $1`);
const TENANTS = 200;

const randomFrom = (seed) => {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** The id of a trace by its number. */
export const traceIdOf = (number) => createHash('sha256').update(`trace ${number}`).digest('hex').slice(0, 32);

export const tenantOf = (number) => `acme-${number % TENANTS}`;

const logNormal = (random, median, sigma) => {
  const gauss = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return median * Math.exp(sigma * gauss);
};

/** Milliseconds that a trace lasts: one in 47 is slow. */
const durationOf = (number) => (number % 47 === 0 ? 600 : 40 + (number % 97));

/** Digits that tell hours apart, of a trace by its number. */
const digitsOf = (hour, number) => Math.imul(Math.imul(hour, 0x9e3779b1) ^ number, 0x85ebca6b) >>> 0;

const idWith = (id, digits) =>
  id === '' ? '' : ((Number.parseInt(id.slice(0, 8), 16) ^ digits) >>> 0).toString(16).padStart(8, '0') + id.slice(8);

/**
 * Make of the spans that `spansOf` gave of traces from `first` on, some a trace, those of as many other traces an hour before: with other ids, times and
 * values, in place, for that takes a third of the time. `hour` is how often this was done.
 */
export const anHourBefore = (spans, { hour, first, tracesOfHour }) => {
  for (let at = 0; at < spans.length; at += SPANS_OF_PART) {
    const number = first + at / SPANS_OF_PART;
    const digits = digitsOf(hour, number);
    const traceId = traceIdOf(number + hour * tracesOfHour);
    const shift = BigInt((digits % 2000) * 1000) - 3_600_000_000_000n;
    const longer = BigInt(digits % 40_000);
    for (let i = at; i < at + SPANS_OF_PART; i++) {
      const span = spans[i];
      const { properties } = span;
      span.traceId = traceId;
      span.spanId = idWith(span.spanId, digits);
      span.parentSpanId = idWith(span.parentSpanId, digits);
      span.startUnixNs += shift;
      span.endUnixNs += shift + longer;
      if (properties.tenant !== undefined) properties.tenant = tenantOf(number + 13 * hour);
      if (properties['db.rows'] !== undefined) properties['db.rows'] = (properties['db.rows'] + hour) % 50;
      if (properties['client.address'] !== undefined)
        properties['client.address'] = `10.4.${(digits >>> 8) % 256}.${(digits >>> 16) % 256}`;
    }
  }
};

/** The spans of one service of traces `first` to `first + count`, that begin evenly between two times, Unix milliseconds. */
export const spansOf = (service, { first, count, fromMs, toMs }) => {
  const random = randomFrom(first * 31 + service);
  const name = SERVICES[service];
  const resources = [0, 1, 2].map((pod) => ({
    properties: {
      'service.name': name,
      'service.version': '2026.11.3',
      'service.instance.id': `${name}-7d9f8b6c5-${pod}`,
      'k8s.pod.name': `${name}-7d9f8b6c5-${pod}`,
      'host.name': `node-${pod + 4}`,
      'process.pid': 17,
    },
  }));
  const spans = [];
  for (let i = 0; i < count; i++) {
    const number = first + i;
    const traceId = traceIdOf(number);
    const traceNs = BigInt(Math.floor(fromMs + ((toMs - fromMs) * i) / count)) * 1_000_000n;
    const lastsMs = durationOf(number);
    // The gateway's part is all of the trace; the others lie one behind the other in it.
    const share = service === 0 ? 1 : 1 / SERVICES.length;
    const partMs = service === 0 ? 0 : (lastsMs * (service - 1)) / SERVICES.length;
    const id = (of, index) => createHash('md5').update(`${number} ${of} ${index}`).digest('hex').slice(0, 16);
    const resource = resources[number % 3];
    for (let index = 0; index < SPANS_OF_PART; index++) {
      const isFirst = index === 0;
      const startMs = partMs + (isFirst ? 0.01 : 0.02 + random() * lastsMs * share * 0.5);
      const spanMs = isFirst ? lastsMs * share * 0.99 : Math.min(lastsMs * share * 0.4, logNormal(random, 1.2, 0.8));
      const startUnixNs = traceNs + BigInt(Math.round(startMs * 1e6));
      const isDatabase = index % 3 === 1;
      const route = ROUTES[(number + index) % ROUTES.length];
      const failed = isFirst && number % 211 === 0;
      spans.push({
        ...{ traceId, spanId: id(service, index), traceState: '', scope: SCOPE, resource, events: [], links: [] },
        parentSpanId: isFirst ? (service === 0 ? '' : id(0, 1 + (service % 7))) : id(service, 0),
        name: isFirst ? `GET ${route}` : isDatabase ? 'pg.query:SELECT shop' : `${name}.step${index}`,
        kind: isFirst ? 'server' : isDatabase ? 'client' : 'internal',
        startUnixNs,
        endUnixNs: startUnixNs + BigInt(Math.round(spanMs * 1e6)),
        status: { code: failed ? 'error' : 'unset', message: '' },
        properties: isFirst
          ? {
              'http.request.method': 'GET',
              'http.route': route,
              'url.path': route.replace(':id', String(Math.floor(random() * 100_000))),
              'http.response.status_code': failed ? 500 : 200,
              'user_agent.original': 'Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0',
              'client.address': `10.4.${Math.floor(random() * 256)}.${Math.floor(random() * 256)}`,
              tenant: tenantOf(number),
            }
          : isDatabase
            ? {
                'db.system': 'postgresql',
                'db.statement': STATEMENTS[Math.floor(random() * STATEMENTS.length)],
                'db.rows': Math.floor(random() * 50),
              }
            : { 'cache.hit': random() < 0.8, attempt: 1 },
      });
    }
  }
  return spans;
};
