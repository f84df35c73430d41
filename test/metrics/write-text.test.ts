// The text that Prometheus reads, whole, in both formats.
import { expect, onTestFinished, test, vi } from 'vitest';
import { timers } from '../../src/base/calls/timers.js';
import { ticks } from '../../src/metrics/exemplars.js';
import { Counter, Gauge, Histogram, UpDownCounter } from '../../src/metrics/instruments.js';
import { Instruments, Reader } from '../../src/metrics/reader.js';
import { type TextFormat, textPieces } from '../../src/metrics/write-text.js';

const RESOURCE = { 'service.name': 'shop "1"', 'a.b': 1, a_b: 'two\nlines' };

const written = (format: TextFormat): string => {
  const clock = vi.spyOn(timers, 'wallMs').mockReturnValue(1_700_000_000_123);
  onTestFinished(() => clock.mockRestore());
  const still = vi.spyOn(ticks, 'now').mockReturnValue(1);
  onTestFinished(() => still.mockRestore());
  const instruments = new Instruments();
  const durations = instruments.add(
    new Histogram({
      name: 'http.server.request.duration',
      unit: 's',
      description: 'Duration of "HTTP" server requests.',
      keys: ['http.route', 'http.response.status_code'],
      boundaries: [0.5, 1],
      hasExemplars: true,
    }),
  );
  const active = instruments.add(
    new UpDownCounter({ name: 'active', unit: '{request}', description: 'A \\ and\na line.', isWhole: true }),
  );
  const sent = instruments.add(
    new Counter({ name: 'io.sent', unit: 'By', description: '', maxSets: 1, keys: ['user'] }),
  );
  const share = instruments.add(new Gauge({ name: '1st.utilization', unit: '1', description: 'Share' }));
  durations.record(0.5, ['/a\\"b"\n', 200]);
  durations.record(3, ['/a\\"b"\n', 200], {
    writeSampledIds(words, at) {
      words.set([1, 2, 3, -1, 4, 5], at);
      return true;
    },
  });
  durations.record(0.25, [undefined, undefined]);
  active.set(2);
  sent.add(12, ['a user']);
  share.set(0.125);
  return [...textPieces(new Reader(instruments, 'cumulative').read(), RESOURCE, format)].join('');
};

test('OpenMetrics', () => {
  expect(written('openmetrics')).toBe(`# TYPE target info
# HELP target Target metadata
target_info{service_name="shop \\"1\\"",a_b="1;two\\nlines"} 1
# TYPE http_server_request_duration_seconds histogram
# UNIT http_server_request_duration_seconds seconds
# HELP http_server_request_duration_seconds Duration of \\"HTTP\\" server requests.
http_server_request_duration_seconds_bucket{http_route="/a\\\\\\"b\\"\\n",http_response_status_code="200",le="0.5"} 1
http_server_request_duration_seconds_bucket{http_route="/a\\\\\\"b\\"\\n",http_response_status_code="200",le="1.0"} 1
http_server_request_duration_seconds_bucket{http_route="/a\\\\\\"b\\"\\n",http_response_status_code="200",le="+Inf"} 2 # {trace_id="000000010000000200000003ffffffff",span_id="0000000400000005"} 3 1700000000.123
http_server_request_duration_seconds_sum{http_route="/a\\\\\\"b\\"\\n",http_response_status_code="200"} 3.5
http_server_request_duration_seconds_count{http_route="/a\\\\\\"b\\"\\n",http_response_status_code="200"} 2
http_server_request_duration_seconds_created{http_route="/a\\\\\\"b\\"\\n",http_response_status_code="200"} 1700000000.123
http_server_request_duration_seconds_bucket{le="0.5"} 1
http_server_request_duration_seconds_bucket{le="1.0"} 1
http_server_request_duration_seconds_bucket{le="+Inf"} 1
http_server_request_duration_seconds_sum 0.25
http_server_request_duration_seconds_count 1
http_server_request_duration_seconds_created 1700000000.123
# TYPE active gauge
# HELP active A \\\\ and\\na line.
active 2
# TYPE io_sent_bytes counter
# UNIT io_sent_bytes bytes
io_sent_bytes_total{otel_metric_overflow="true"} 12
io_sent_bytes_created{otel_metric_overflow="true"} 1700000000.123
# TYPE _1st_utilization_ratio gauge
# UNIT _1st_utilization_ratio ratio
# HELP _1st_utilization_ratio Share
_1st_utilization_ratio 0.125
# EOF
`);
});

test('the older format has no units, start times and end, and names counters as their samples', () => {
  const text = written('prometheus');
  expect(text).toContain(`# TYPE target_info gauge
# HELP target_info Target metadata
target_info{`);
  expect(text).toContain(`# HELP http_server_request_duration_seconds Duration of "HTTP" server requests.`);
  expect(text).toContain('le="1"} 1\n');
  expect(text).toContain(`# TYPE io_sent_bytes_total counter
io_sent_bytes_total{otel_metric_overflow="true"} 12
# TYPE _1st_utilization_ratio gauge
# HELP _1st_utilization_ratio Share
_1st_utilization_ratio 0.125
`);
  expect(text).not.toMatch(/UNIT|EOF|_created|trace_id/);
});
