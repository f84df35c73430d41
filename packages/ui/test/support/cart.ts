// An archive with exact times: a request over two processes that kept their timelines, what had the event loop meanwhile, links in both directions, and
// references to what is absent.

import type { TimelineRow } from '../../../../src/flight-recorder/index.js';
import type { ArchivedLink, ArchivedResource, ArchivedSpan } from '../../../../src/record/archived-span.js';
import { Archive } from '../../../archive/src/index.js';
import { span } from '../../../archive/test/segment/support/segments.js';

const START_US = 1_760_000_000_000_000;

const resource = (service: string, pid: number): ArchivedResource => ({
  properties: { 'service.name': service, 'process.pid': pid },
});
const SHOP = resource('shop', 4711);
const DB = resource('db', 4712);

/** Ids by name. */
export const CART = 'ca'.repeat(16);
export const REPORT = '4e'.repeat(16);
export const JOB = '70'.repeat(16);
export const ABSENT = 'ab'.repeat(16);
export const idOf = (number: number): string => number.toString(16).padStart(16, '0');
export const ROOT = idOf(1);
export const QUERY = idOf(3);
export const SELECT = idOf(4);
export const RENDER = idOf(5);
const BUILD = idOf(11);
export const LINKING = idOf(21);
export const ABSENT_SPAN = idOf(99);

const at = (ms: number): number => START_US + ms * 1000;
const ns = (ms: number): bigint => BigInt(at(ms)) * 1000n;
const link = (traceId: string, spanId: string): ArchivedLink => ({ traceId, spanId, traceState: '', properties: {} });

type Given = Partial<ArchivedSpan> & { readonly from: number; readonly to: number };
const made = ({ from, to, ...rest }: Given): ArchivedSpan =>
  span({ resource: SHOP, kind: 'internal', startUnixNs: ns(from), endUnixNs: ns(to), ...rest });

/** Milliseconds since the request began. */
export const spans: readonly ArchivedSpan[] = [
  made({ traceId: CART, spanId: ROOT, name: 'GET /cart', kind: 'server', from: 0, to: 100 }),
  made({ traceId: CART, spanId: idOf(2), parentSpanId: ROOT, name: 'parse', isLocal: true, from: 0, to: 10 }),
  made({ traceId: CART, spanId: QUERY, parentSpanId: ROOT, name: 'query', kind: 'client', from: 10, to: 60 }),
  made({ traceId: CART, spanId: SELECT, parentSpanId: QUERY, name: 'SELECT', resource: DB, from: 15, to: 55 }),
  made({
    ...{ traceId: CART, spanId: RENDER, parentSpanId: ROOT, name: 'render', from: 60, to: 95 },
    properties: { 'app.user': 'Ada Lovelace', 'app.long': 'x'.repeat(25_000) },
    status: { code: 'error', message: 'the template is broken' },
    events: [{ name: 'cache miss', timeUnixNs: ns(65), properties: { 'cache.key': 'cart-7' } }],
    links: [link(REPORT, idOf(10)), link(ABSENT, ABSENT_SPAN), link(CART, QUERY)],
  }),
  made({ traceId: REPORT, spanId: idOf(10), name: 'GET /report', kind: 'server', from: 18, to: 52 }),
  made({
    ...{ traceId: REPORT, spanId: BUILD, parentSpanId: idOf(10), name: 'build report', from: 22, to: 48 },
    isLocal: true,
  }),
  made({ traceId: JOB, spanId: idOf(20), name: 'job', from: 200, to: 230 }),
  made({
    ...{ traceId: JOB, spanId: LINKING, parentSpanId: idOf(20), name: 'mail', from: 205, to: 220 },
    links: [link(CART, QUERY), link(CART, ABSENT_SPAN)],
  }),
];

const busy = (from: number, to: number, part: Partial<TimelineRow['parts'][number]>): TimelineRow => ({
  kind: 'busy',
  startUs: at(from),
  endUs: at(to),
  detail: '',
  parts: [{ startUs: at(from), endUs: at(to), traceId: '', spanId: '', name: '', frames: [], ...part }],
});
const collection = (from: number, to: number, detail: string): TimelineRow => ({
  ...{ kind: 'gc', startUs: at(from), endUs: at(to), detail, parts: [] },
});

/** Fill an archive, sealed and closed. */
export const makeCart = async (directory: string): Promise<void> => {
  const archive = await Archive.open(directory);
  archive.append(spans);
  const holder = { traceId: REPORT, spanId: BUILD, name: 'build report', frames: ['buildReport report.js:7'] };
  const shop = [
    busy(22, 48, holder),
    busy(70, 70.4, { frames: ['tick timers.js:3'] }),
    collection(80, 82, 'scavenge'),
    { ...collection(84, 94, 'crypto.pbkdf2 16'), kind: 'pool' } as const,
  ];
  archive.appendTimeline(shop, SHOP, at(-10), at(300));
  archive.appendTimeline([collection(30, 31, 'mark-compact')], DB, at(-10), at(300));
  await archive.close();
};
