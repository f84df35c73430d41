// A real Prometheus reads a service under load: what it stores is what the service has done, the rules of the docs are sound, and exemplars lead to traces.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../scripts/lib/local-ports.mjs';
import { write } from '../register/support/app.js';
import { root } from '../support/child.js';

const isInstalled = (name: string): boolean => spawnSync(name, ['--version']).status === 0;
const hasPrometheus = isInstalled('prometheus') && isInstalled('promtool');
if (!hasPrometheus) console.info('skipped: no prometheus and promtool here (Debian package prometheus)');

/** Each request asks a cache three times. One in four fails, one in ten takes 30 ms; each says its trace where it is sampled. */
const service = write(
  'prometheus-service.mjs',
  `import { tracingChannel } from 'node:diagnostics_channel';
   import { once } from 'node:events';
   import { createServer } from 'node:http';
   import { setTimeout as sleep } from 'node:timers/promises';
   import { Span } from 'spanline';

   const cache = tracingChannel('ioredis:command');
   const command = { command: 'get', args: ['key'], database: 0, serverAddress: 'cache', serverPort: 6379 };
   let n = 0;
   const tookMs = [];
   const server = createServer(async (request, response) => {
     const begin = performance.now();
     const span = Span.current();
     if (span?.isRecording) response.setHeader('x-trace', span.context.traceId);
     if (request.url === '/took') return void response.end(JSON.stringify(tookMs));
     response.once('finish', () => tookMs.push(performance.now() - begin));
     const i = n++;
     for (let call = 0; call < 3; call++) await cache.tracePromise(async () => 'value', { ...command });
     if (i % 10 === 0) await sleep(30);
     response.writeHead(i % 4 === 0 ? 500 : 200).end('"quoted" \\\\ text');
   });
   await once(server.listen(0, '127.0.0.1'), 'listening');
   console.log(server.address().port);`,
);

const BOUNDARIES = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const bucketOf = (seconds: number): number => BOUNDARIES.filter((boundary) => boundary < seconds).length;

const REQUESTS = 200;
const IN_FLIGHT = 8;
const COUNT = 'http_server_request_duration_seconds_count';

const folder = mkdtempSync(join(tmpdir(), 'spanline-prometheus-'));
const rulesFile = join(folder, 'rules.yml');
const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children) {
    if (child.exitCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  rmSync(folder, { recursive: true });
});

const startService = async (): Promise<{ url: string; metrics: URL }> => {
  const child = spawn(process.execPath, ['--import', 'spanline/register', service], {
    cwd: root,
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      SPANLINE_ARCHIVE: '',
      OTEL_TRACES_EXPORTER: 'none',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.3',
      OTEL_METRICS_EXPORTER: 'prometheus',
      OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
      OTEL_EXPORTER_PROMETHEUS_PORT: '0',
      OTEL_SERVICE_NAME: 'shop',
      OTEL_RESOURCE_ATTRIBUTES: 'note=a%20"b"%5C',
      OTEL_LOG_LEVEL: 'debug',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let metrics: string | undefined;
  const [log, out] = [createInterface({ input: child.stderr }), createInterface({ input: child.stdout })];
  log.on('line', (line) => {
    metrics ??= /metrics are at (.*)/.exec(line)?.[1];
  });
  const [port] = await once(out, 'line');
  while (metrics === undefined) await once(log, 'line');
  return { url: `http://127.0.0.1:${port}`, metrics: new URL(metrics) };
};

const startPrometheus = async (target: string): Promise<string> => {
  const config = join(folder, 'prometheus.yml');
  writeFileSync(
    config,
    `global: { scrape_interval: 250ms, scrape_timeout: 250ms, evaluation_interval: 1s }
rule_files: [${rulesFile}]
scrape_configs: [{ job_name: shop, static_configs: [{ targets: ['${target}'] }] }]
`,
  );
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
      '--enable-feature=exemplar-storage',
    ],
    { stdio: 'ignore' },
  );
  children.push(child);
  return `http://${address}`;
};

describe.skipIf(!hasPrometheus)('Prometheus', () => {
  let url: string;
  let metrics: URL;
  let prometheus: string;
  const sampled = new Set<string>();
  /** Two moments around the second half of the load, at which nothing was in flight. */
  let fromSec: number;
  let toSec: number;
  beforeAll(async () => {
    const docs = readFileSync(join(root, 'docs/metrics.md'), 'utf8');
    writeFileSync(rulesFile, /```yaml\n(groups:[\s\S]*?)```/.exec(docs)?.[1] ?? '');
    ({ url, metrics } = await startService());
    prometheus = await startPrometheus(metrics.host);
    await send();
    await until(`sum(${last(COUNT)})`, REQUESTS);
    fromSec = nowSec();
    await when(async () => Number(await numberOf('timestamp(up)')) > fromSec);
    await send();
    await until(`sum(${last(COUNT)})`, 2 * REQUESTS);
    toSec = nowSec();
  }, 120_000);

  const get = async (path = '/'): Promise<string> => {
    const answer = await fetch(new URL(path, url));
    const trace = answer.headers.get('x-trace');
    if (trace !== null) sampled.add(trace);
    return await answer.text();
  };
  const send = async (): Promise<void> => {
    let sent = 0;
    const one = async (): Promise<void> => {
      while (sent++ < REQUESTS) await get();
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, one));
  };

  // biome-ignore lint/suspicious/noExplicitAny: Prometheus's JSON.
  const ask = async (path: string, query: Record<string, string>): Promise<any> => {
    try {
      const answer = await fetch(`${prometheus}/api/v1/${path}?${new URLSearchParams(query)}`);
      return ((await answer.json()) as { data?: unknown }).data;
    } catch {
      // It does not listen yet.
      return undefined;
    }
  };
  const numberOf = async (query: string, more: Record<string, string> = {}): Promise<number | undefined> => {
    const data = await ask('query', { query, ...more });
    return data?.result?.[0] === undefined ? undefined : Number(data.result[0].value[1]);
  };
  const when = async (isSo: () => Promise<boolean>): Promise<void> => {
    while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  const until = (query: string, value: number): Promise<void> => when(async () => (await numberOf(query)) === value);
  /** The last value that was read, also where the newest scrape came too late. */
  const last = (series: string): string => `last_over_time(${series}[1m])`;
  const nowSec = (): number => Date.now() / 1000;

  test('counts, shares and percentiles are those of the load', async () => {
    expect(await numberOf(`sum(${last('db_client_operation_duration_seconds_count')})`)).toBe(6 * REQUESTS);
    expect(await numberOf(`sum(${last(`${COUNT}{error_type="500"}`)})`)).toBe(REQUESTS / 2);
    // Nothing was in flight at either end: shares of rates are exact.
    const rate = (series: string): string => `sum(rate(${series}[${Math.ceil((toSec - fromSec) * 1000)}ms]))`;
    const share = (a: string, b: string): Promise<number | undefined> =>
      numberOf(`${rate(a)} / ${rate(b)}`, { time: String(toSec) });
    expect(await share(`${COUNT}{error_type!=""}`, COUNT)).toBeCloseTo(0.25, 10);
    expect(await share('db_client_operation_duration_seconds_count', COUNT)).toBeCloseTo(3, 10);
    expect(await numberOf(last('target_info{service_name="shop",note="a \\"b\\"\\\\"}'))).toBe(1);

    const tookMs = JSON.parse(await get('/took')) as number[];
    const sorted = tookMs.sort((a, b) => a - b);
    const p99 = await numberOf(
      `histogram_quantile(0.99, sum by (le) (${last('http_server_request_duration_seconds_bucket')}))`,
    );
    // A program measures from its handler on, so a request may stand one bucket and one place off; places beside each other may be buckets apart.
    const rank = Math.floor(sorted.length * 0.99);
    const [below, above] = [rank - 2, rank + 1].map((place) => bucketOf(sorted[place] / 1000));
    expect(bucketOf(Number(p99))).toBeGreaterThanOrEqual(below - 1);
    expect(bucketOf(Number(p99))).toBeLessThanOrEqual(above + 1);
  });

  test('exemplars name traces that were recorded', async () => {
    const query = 'http_server_request_duration_seconds_bucket';
    const data = await ask('query_exemplars', { query, start: '0', end: String(Date.now() / 1000 + 60) });
    const traces: string[] = data.flatMap(({ exemplars }: { exemplars: { labels: { trace_id: string } }[] }) =>
      exemplars.map(({ labels }) => labels.trace_id),
    );
    expect(traces.length).toBeGreaterThan(0);
    expect(traces.filter((trace) => !sampled.has(trace))).toEqual([]);
  });

  test('the rules of the docs are loaded, and promtool finds nothing wrong with rules and metrics', async () => {
    await until('ALERTS{alertname="RequestsFail"}', 1);
    const { groups } = await ask('rules', {});
    const all: { name: string; lastError?: string }[] = groups.flatMap(({ rules }: { rules: unknown[] }) => rules);
    expect(all.map(({ name, lastError = '' }) => `${name}${lastError}`)).toEqual([
      'RequestsFail',
      'RequestsAreSlow',
      'EventLoopIsFull',
    ]);
    const promtool = (args: readonly string[], input = ''): string => {
      const { status, stdout, stderr } = spawnSync('promtool', ['check', ...args], { input, encoding: 'utf8' });
      return status === 0 ? stderr : `${status} ${stdout} ${stderr}`;
    };
    expect(promtool(['rules', rulesFile])).toBe('');
    expect(promtool(['metrics'], await (await fetch(metrics)).text())).toBe('');
  });
});
