// What we measure of a service is what OpenTelemetry's official instrumentations measure of it with the official SDK under the same load: the same
// instruments, units, buckets, attributes, counts and sums, but for the differences that are listed here with their reasons.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasPostgres, type Postgres, startPostgres } from '../../scripts/lib/postgres.mjs';
import { startServer } from '../exporters/support/http-server.js';
import { service } from '../register/support/official.js';
import { buildFirst } from '../support/built.js';
import { runFile } from '../support/child.js';
import { otlpMessages } from '../support/otlp-messages.js';

buildFirst();

interface Point {
  readonly name: string;
  readonly unit: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly count: number;
  /** Of a histogram: seconds. */
  readonly sum?: number;
  readonly boundaries?: readonly number[];
}

// biome-ignore lint/suspicious/noExplicitAny: protobufjs's form of it.
type Raw = any;
const Request = otlpMessages.lookupType('MetricsRequest');

const program = service('measured.cjs');

let postgres: Postgres | undefined;
let database: Readonly<Record<string, string>> = {};
beforeAll(async () => {
  if (!hasPostgres) return;
  postgres = await startPostgres({ listens: true });
  database = { PGPORT: String(postgres.port) };
});
afterAll(() => postgres?.stop());

const ours = async (): Promise<Point[]> => {
  const server = await startServer();
  try {
    const { code, stderr } = await runFile(program, {
      execArgv: ['--import', 'spanline/register'],
      env: {
        ...database,
        SPANLINE_ARCHIVE: '',
        OTEL_TRACES_EXPORTER: 'none',
        OTEL_METRICS_EXPORTER: 'otlp',
        OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
      },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { resourceMetrics } = Request.toObject(Request.decode(server.requests.at(-1)?.body as Buffer), {
      longs: String,
      defaults: true,
    }) as Raw;
    return resourceMetrics[0].scopeMetrics[0].metrics.flatMap(({ name, unit, histogram, sum, gauge }: Raw) =>
      (histogram ?? sum ?? gauge).dataPoints.map(({ attributes, count, asInt, sum: seconds, explicitBounds }: Raw) => ({
        ...{ name, unit, count: Number(count ?? asInt), sum: seconds, boundaries: explicitBounds },
        attributes: Object.fromEntries(
          attributes.map(({ key, value }: Raw) => [key, value.stringValue ?? Number(value.intValue)]),
        ),
      })),
    );
  } finally {
    await server.close();
  }
};

const theirs = async (): Promise<Point[]> => {
  const { code, stdout, stderr } = await runFile(program, {
    execArgv: ['--require', service('measured-official.cjs')],
    env: { ...database, OTEL_SEMCONV_STABILITY_OPT_IN: 'http,database', OTEL_TRACES_EXPORTER: 'none' },
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Point[];
};

interface Difference {
  readonly reason: string;
  /** It is there where a database is. */
  readonly isOfDatabase?: boolean;
  /** Whether a point of theirs, or of ours, is as it is for this reason. */
  isOne(point: Point, isOurs: boolean): boolean;
  /** What it would be without; undefined where it would not be there. */
  without(point: Point): Point | undefined;
}

const DIFFERENCES: readonly Difference[] = [
  {
    reason: 'the official instrumentations do not count active requests',
    isOne: ({ name }, isOurs) => isOurs && name === 'http.server.active_requests',
    without: () => undefined,
  },
  {
    reason: 'that of undici gives url.scheme, which is opt-in for clients, and that of http does not',
    isOne: ({ name, attributes }, isOurs) =>
      !isOurs && name === 'http.client.request.duration' && attributes['url.scheme'] !== undefined,
    without: ({ attributes: { 'url.scheme': _, ...attributes }, ...point }) => ({ ...point, attributes }),
  },
  {
    reason: 'that of http gives the name of the class of an error, and that of undici its code, as we do for both',
    isOne: ({ attributes }, isOurs) => !isOurs && attributes['error.type'] === 'Error',
    without: (point) => ({ ...point, attributes: { ...point.attributes, 'error.type': 'ECONNREFUSED' } }),
  },
  {
    reason: 'that of pg does not say which tables, nor that a query failed',
    isOfDatabase: true,
    isOne: ({ name }, isOurs) => isOurs && name === 'db.client.operation.duration',
    without: ({ attributes, ...point }) => {
      const { 'db.query.summary': _, 'error.type': __, 'db.response.status_code': ___, ...others } = attributes;
      return { ...point, attributes: others };
    },
  },
];

/** Points without the differences, whose reasons are put into `found`. */
const same = (points: readonly Point[], isOurs: boolean, found: Set<string>): Point[] =>
  points
    .filter(({ name }) => /^(?:http|db\.client\.operation)\./.test(name))
    .flatMap((point) => {
      let left: Point | undefined = point;
      for (const { reason, isOne, without } of DIFFERENCES) {
        if (left === undefined || !isOne(left, isOurs)) continue;
        found.add(reason);
        left = without(left);
      }
      return left === undefined ? [] : [left];
    });

/** `name unit {attributes} boundaries: count`, without ports, which differ from run to run. */
const linesOf = (points: readonly Point[]): string[] => {
  const counts = new Map<string, number>();
  for (const { name, unit, attributes, count, boundaries = [] } of points) {
    const { 'server.port': _, ...others } = attributes;
    const pairs = Object.entries(others).map(([key, value]) => `${key}=${value}`);
    const set = `${name} ${unit} {${pairs.sort().join(',')}} ${boundaries.join(' ')}`;
    counts.set(set, (counts.get(set) ?? 0) + count);
  }
  return [...counts].map(([set, count]) => `${set}: ${count}`).sort();
};

/** Calls of `/slow`, each of which waits a tenth of a second. */
const SLOW = 5;
/** A timer of Node may come a millisecond before its time. */
const SLOW_SECONDS = (SLOW * 99) / 1000;

/** Seconds in all slow calls, by the server and by the client, which has no route. */
const slowSeconds = (points: readonly Point[]): { readonly server: number; readonly client: number } => {
  const sumOf = (wanted: (point: Point) => boolean): number =>
    points.filter(wanted).reduce((total, { sum = 0 }) => total + sum, 0);
  return {
    server: sumOf(
      ({ name, attributes }) => name === 'http.server.request.duration' && attributes['http.route'] === '/slow',
    ),
    client: sumOf(({ name }) => name === 'http.client.request.duration'),
  };
};

test('the same, but for what is listed', async () => {
  const start = performance.now();
  const [own, official] = await Promise.all([ours(), theirs()]);
  const seconds = (performance.now() - start) / 1000;
  // The calls come one after the other: all of them together take no longer than the program. A call within another counts twice.
  for (const { server, client } of [slowSeconds(own), slowSeconds(official)]) {
    for (const sum of [server, client]) expect(sum).toBeGreaterThan(SLOW_SECONDS);
    expect(server).toBeLessThan(seconds);
    expect(client).toBeLessThan(2 * seconds);
  }
  const found = new Set<string>();
  const [left, right] = [linesOf(same(own, true, found)), linesOf(same(official, false, found))];
  expect(left).toEqual(right);
  expect(left.length).toBeGreaterThan(12);
  // None is listed that is not there any more.
  const listed = DIFFERENCES.filter(({ isOfDatabase }) => hasPostgres || isOfDatabase !== true);
  expect([...found].sort()).toEqual(listed.map(({ reason }) => reason).sort());
});
