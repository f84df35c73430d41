// Seeded traces of a made-up shop: eight services, sixty operations that call each other, offsets and durations log-normal around what
// is usual for the operation. The same seed gives the same spans on every machine.
import type {
  ArchivedKind,
  ArchivedResource,
  ArchivedScope,
  ArchivedSpan,
} from '../../../../../src/record/archived-span.js';

/** Numbers from 0 to 1 (mulberry32). */
export const seededRandom = (seed: number): (() => number) => {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const SERVICES = ['frontend', 'cart', 'catalog', 'checkout', 'payment', 'shipping', 'currency', 'recommendation'];
const THINGS = ['cart', 'product', 'order', 'price', 'stock', 'address', 'session', 'coupon', 'review', 'image'];
const FORMS: readonly { readonly kind: ArchivedKind; readonly name: (thing: string) => string }[] = [
  { kind: 'server', name: (thing) => `GET /api/${thing}s/:id` },
  { kind: 'client', name: (thing) => `SELECT ${thing}s` },
  { kind: 'internal', name: (thing) => `load ${thing}` },
  { kind: 'internal', name: (thing) => `cache.get ${thing}` },
  { kind: 'client', name: (thing) => `grpc ${thing}.Service/Get` },
  { kind: 'producer', name: (thing) => `publish ${thing}.changed` },
];

interface Operation {
  readonly name: string;
  readonly kind: ArchivedKind;
  readonly resource: ArchivedResource;
  readonly medianNs: number;
  readonly callees: readonly number[];
}

/** What is drawn. */
export interface SyntheticOptions {
  readonly traces: number;
  readonly spansPerTrace: number;
  readonly seed: number;
}

const SCOPE: ArchivedScope = { name: 'shop', version: '2.4.1', properties: {} };
/** 2025-10-09T08:53:20Z. */
const FIRST_NS = 1_760_000_000_000_000_000n;
const HOUR_NS = 3_600e9;

/** All spans, trace by trace, each behind its parent. */
export const syntheticSpans = ({ traces, spansPerTrace, seed }: SyntheticOptions): ArchivedSpan[] => {
  const random = seededRandom(seed);
  const whole = (below: number): number => Math.floor(random() * below);
  const gauss = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const logNormal = (median: number, sigma: number): bigint => BigInt(Math.round(median * Math.exp(sigma * gauss())));
  const hex = (digits: number): string => {
    let text = '';
    while (text.length < digits)
      text += whole(2 ** 32)
        .toString(16)
        .padStart(8, '0');
    return text;
  };
  const resources = SERVICES.map((service): ArchivedResource => ({ properties: { 'service.name': service } }));
  const operations = THINGS.flatMap((thing, t) =>
    FORMS.map(
      ({ kind, name }, f): Operation => ({
        name: name(thing),
        kind,
        resource: resources[(t + f) % resources.length],
        // From 20 us to 5 ms.
        medianNs: 20_000 * 250 ** random(),
        callees: Array.from({ length: 2 + whole(4) }, () => whole(THINGS.length * FORMS.length)),
      }),
    ),
  );
  const spans: ArchivedSpan[] = [];
  for (let trace = 0; trace < traces; trace++) {
    const traceId = hex(32);
    const first = FIRST_NS + BigInt(Math.floor(random() * HOUR_NS));
    const own: { readonly id: string; readonly operation: number; readonly start: bigint }[] = [];
    for (let i = 0; i < spansPerTrace; i++) {
      // Calls are made by what ran last more often than by what ran long ago.
      const parent = i === 0 ? undefined : own[Math.max(0, i - 1 - Math.floor(-3 * Math.log(1 - random())))];
      const callees = parent === undefined ? undefined : operations[parent.operation].callees;
      const operation = callees === undefined ? FORMS.length * whole(THINGS.length) : callees[whole(callees.length)];
      const { name, kind, resource, medianNs } = operations[operation];
      const startUnixNs = parent === undefined ? first : parent.start + logNormal(100_000, 0.8);
      const endUnixNs = startUnixNs + logNormal(parent === undefined ? 20_000_000 : medianNs, 0.5);
      const spanId = hex(16);
      own.push({ id: spanId, operation, start: startUnixNs });
      spans.push({
        traceId,
        spanId,
        parentSpanId: parent?.id ?? '',
        traceState: '',
        name,
        kind,
        startUnixNs,
        endUnixNs,
        status: { code: random() < 0.01 ? 'error' : 'unset', message: '' },
        properties: {},
        events: [],
        links: [],
        resource,
        scope: SCOPE,
      });
    }
  }
  return spans;
};
