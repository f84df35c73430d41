// The last minute by metrics: what a service has counted between two readings of it, whoever says what in its text.
import { describe, expect, test } from 'vitest';
import { measuredOf, quantile, ServiceMinute } from '../src/api/live/measured-minute.js';
import { type MetricsText, readMetricsText } from '../src/api/live/metrics-text.js';

/** Lines of a set of a histogram; `counts` by bucket. */
const setOf = (
  family: string,
  labels: string,
  counts: readonly number[],
  boundaries = ['0.1', '1.0', '+Inf'],
): string => {
  let sum = 0;
  const lines = counts.map((count, i) => {
    sum += count;
    return `${family}_bucket{${labels === '' ? '' : `${labels},`}le="${boundaries[i]}"} ${sum} # {trace_id="a"} 1 2`;
  });
  return [...lines, `${family}_sum{${labels}} 1`, `${family}_count{${labels}} ${sum}`, ''].join('\n');
};
const SERVED = 'http_server_request_duration_seconds';
const servedBy = (service: string, ok: readonly number[], failed: readonly number[]): MetricsText =>
  readMetricsText(
    `target_info{service_name="${service}"} 1\n${setOf(SERVED, 'http_request_method="GET",http_route="/a",http_response_status_code="200"', ok)}${setOf(SERVED, 'http_request_method="GET",http_route="/a",error_type="500"', failed)}`,
  );

const minuteOf = (...readings: readonly (readonly [text: MetricsText, ms: number])[]): ServiceMinute => {
  const minute = new ServiceMinute();
  for (const [text, ms] of readings) minute.add(text, ms);
  return minute;
};

/** `what name service: count (errors) a second` */
const lines = (services: readonly ServiceMinute[]): string[] =>
  measuredOf(services).rows.map(
    ({ what, name, service, count, errors, perSecond }) =>
      `${what} ${name} ${service}: ${count} (${errors}) ${perSecond}`,
  );

describe('the text', () => {
  test('each kind has a word and a name; sets that differ in the outcome alone are one row', () => {
    const text = [
      '# TYPE target info',
      'target_info{service_name="a \\"shop\\"\\\\"} 1',
      setOf(SERVED, 'http_request_method="GET",http_route="/items/:id",http_response_status_code="200"', [3, 1, 0]),
      setOf(SERVED, 'http_request_method="GET",http_route="/items/:id",error_type="500"', [0, 0, 2]),
      setOf(SERVED, 'http_request_method="GET",url_scheme="http"', [1, 0, 0]),
      setOf(
        'http_client_request_duration_seconds',
        'http_request_method="GET",server_address="stock",server_port="80"',
        [1, 0, 0],
      ),
      setOf('db_client_operation_duration_seconds', 'db_system_name="redis",db_operation_name="GET"', [7, 0, 0]),
      setOf(
        'db_client_operation_duration_seconds',
        'db_system_name="postgresql",db_query_summary="SELECT orders"',
        [1, 0, 0],
      ),
      setOf(
        'messaging_client_operation_duration_seconds',
        'messaging_operation_name="publish",messaging_destination_name="orders"',
        [1, 0, 0],
      ),
      setOf('messaging_process_duration_seconds', 'messaging_destination_name="orders"', [1, 0, 0]),
      setOf('rpc_server_call_duration_seconds', 'rpc_method="shop.Cart/Add"', [1, 0, 0]),
      setOf('rpc_client_call_duration_seconds', 'rpc_method="shop.Cart/Add",server_address="cart"', [1, 0, 0]),
      setOf(
        'spanline_recorded_span_duration_seconds',
        'span_name="checkout",plan="a\\nb",error_type="Error"',
        [1, 0, 0],
      ),
      setOf(SERVED, 'otel_metric_overflow="true"', [5, 0, 0]),
      setOf('of_somebody_else_seconds', 'x="1"', [1, 0, 0]),
      'no line {',
      '# EOF',
    ].join('\n');
    const { service, rows } = readMetricsText(text);
    expect(service).toBe('a "shop"\\');
    expect(
      [...rows.values()].map(({ what, name, buckets, failed }) => `${what} ${name}: ${buckets.join(' ')}, ${failed}`),
    ).toEqual([
      'answered GET /items/:id: 3 1 2, 2',
      'answered GET: 1 0 0, 0',
      'asked GET stock:80: 1 0 0, 0',
      'asked redis GET: 7 0 0, 0',
      'asked postgresql SELECT orders: 1 0 0, 0',
      'sent publish orders: 1 0 0, 0',
      'processed orders: 1 0 0, 0',
      'answered shop.Cart/Add: 1 0 0, 0',
      'asked shop.Cart/Add cart: 1 0 0, 0',
      'recorded checkout plan=a\nb: 1 0 0, 1',
      'answered others: 5 0 0, 0',
    ]);
  });

  test('what has more names than there are rows is counted together', () => {
    const text = Array.from({ length: 1000 }, (_, i) =>
      setOf(SERVED, `http_request_method="GET",http_route="/${i}"`, [1, 0, 0]),
    ).join('');
    const { rows } = readMetricsText(text);
    expect(rows.size).toBe(201);
    expect([...rows.values()].at(-1)).toMatchObject({ name: 'others', buckets: Float64Array.of(800, 0, 0) });
  });
});

describe('the minute', () => {
  test('is what was counted between its readings; nothing before there are two', () => {
    const first = [servedBy('shop', [100, 0, 0], [5, 0, 0]), 1000] as const;
    expect(measuredOf([minuteOf(first)])).toEqual({ seconds: 0, rows: [] });
    const minute = minuteOf(
      first,
      [servedBy('shop', [104, 2, 0], [6, 0, 0]), 2000],
      [servedBy('shop', [120, 2, 0], [7, 0, 1]), 3000],
    );
    expect(lines([minute])).toEqual(['answered GET /a shop: 25 (3) 12.5']);
    expect(measuredOf([minute]).seconds).toBe(2);
    // What has not happened is not there.
    minute.add(servedBy('shop', [120, 2, 0], [7, 0, 1]), 63_500);
    expect(measuredOf([minute])).toEqual({ seconds: 60.5, rows: [] });
  });

  test('goes on with the second reading after a minute, and forgets a service that is silent', () => {
    const minute = new ServiceMinute();
    for (let s = 0; s <= 200; s++) minute.add(servedBy('shop', [s * 3, 0, 0], [0, 0, 0]), s * 1000);
    expect(lines([minute])).toEqual(['answered GET /a shop: 180 (0) 3']);
    minute.forget(230_000);
    expect(lines([minute])).toEqual(['answered GET /a shop: 90 (0) 3']);
    minute.forget(260_000);
    expect(lines([minute])).toEqual([]);
  });

  test('begins anew with a process that does, and where the clock is put back', () => {
    const minute = minuteOf(
      [servedBy('shop', [500, 0, 0], [0, 0, 0]), 1000],
      [servedBy('shop', [600, 0, 0], [0, 0, 0]), 2000],
      [servedBy('shop', [3, 0, 0], [0, 0, 0]), 3000],
    );
    expect(lines([minute])).toEqual([]);
    minute.add(servedBy('shop', [5, 0, 0], [0, 0, 0]), 4000);
    expect(lines([minute])).toEqual(['answered GET /a shop: 2 (0) 2']);
    minute.add(servedBy('shop', [9, 0, 0], [0, 0, 0]), 1000);
    expect(lines([minute])).toEqual([]);
  });

  test('processes of one service are one row, others are not', () => {
    const services = ['shop', 'shop', 'stock'].map((name) =>
      minuteOf([servedBy(name, [0, 0, 0], [0, 0, 0]), 0], [servedBy(name, [0, 10, 0], [0, 1, 0]), 2000]),
    );
    expect(lines(services)).toEqual(['answered GET /a shop: 22 (2) 11', 'answered GET /a stock: 11 (1) 5.5']);
  });

  test('percentiles are those of Prometheus: spread evenly in a bucket, at most the last boundary', () => {
    const at = (share: number, buckets: readonly number[]): number =>
      quantile(share, [0.1, 1], Float64Array.from(buckets));
    expect(at(0.5, [10, 0, 0])).toBeCloseTo(0.05);
    expect(at(0.5, [5, 5, 0])).toBeCloseTo(0.1);
    expect(at(0.75, [5, 5, 0])).toBeCloseTo(0.55);
    expect(at(0.99, [1, 0, 9])).toBe(1);
    expect(at(0.5, [0, 4, 0])).toBeCloseTo(0.55);
  });
});
