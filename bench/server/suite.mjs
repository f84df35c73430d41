// The server suite: what tracing costs a service that knows nothing of it, loaded from another process. Every subject is a process of its own
// per app, and they take turns, round by round, each time from another one on. What a subject is compared with must be measured right beside it: an
// untraced service of its own, as old and as often asked as it, is asked by turns with it, and at the same time.
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasRedis, startRedis } from '../../scripts/lib/redis-server.mjs';
import { root } from '../../scripts/lib/run.mjs';
import { startSink } from '../exporters/start-sink.mjs';
import { ensurePeers } from '../lib/peers.mjs';
import { versionOf } from '../lib/subjects.mjs';
import { load } from '../service/run-load.mjs';
import { rowsOf } from './rows.mjs';
import { Service } from './subject.mjs';

/** What is asked of each. */
const APPS = { hello: '/', fastify: '/api/items/7', express: '/api/items/7', redis: '/' };
const ROUNDS = { full: 4, quick: 2 };
const SECONDS = { full: 1.5, quick: 0.5 };
/** Of saturation, in a round. */
const PAIRS = 2;
/** What a subject puts off to when it is idle is not free. */
const AFTER_MS = 1200;

const UNTRACED = { subject: 'none', mode: 'none', preload: 'none', env: {} };
const UNSAMPLED = { OTEL_TRACES_EXPORTER: 'none', OTEL_TRACES_SAMPLER: 'always_off' };

/**
 * Subjects by name; modes are those of the service suite; `patched`: official instrumentations and no provider, `official-record` and
 * `official-send`: those instrumentations recorded by spanline/otel; `metrics`: `unsampled`, and metrics that nobody reads.
 */
const subjectsOf = (sink) => {
  const otlp = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${sink}` };
  return [
    UNTRACED,
    { subject: 'spanline', mode: 'record', preload: 'noop', env: { OTEL_TRACES_EXPORTER: 'none' } },
    { subject: 'spanline', mode: 'send', preload: 'register', env: otlp },
    { subject: 'spanline', mode: 'archive', preload: 'register', env: {} },
    {
      subject: 'spanline',
      mode: 'unsampled',
      preload: 'noop',
      env: UNSAMPLED,
    },
    {
      subject: 'spanline',
      mode: 'metrics',
      preload: 'noop',
      env: { ...UNSAMPLED, OTEL_METRICS_EXPORTER: 'prometheus', OTEL_EXPORTER_PROMETHEUS_PORT: '0' },
    },
    ...['official-record', 'official-send'].map((mode) => ({
      subject: 'spanline',
      mode,
      preload: 'mixed',
      env: { ...otlp, SPANLINE_BENCH_MODE: mode },
    })),
    ...['patched', 'record', 'send'].map((mode) => ({
      subject: 'opentelemetry',
      mode,
      preload: 'official',
      env: { ...otlp, SPANLINE_BENCH_MODE: mode },
    })),
    ...['unsampled', 'metrics'].map((mode) => ({
      subject: 'opentelemetry',
      mode,
      preload: 'official',
      env: { ...UNSAMPLED, OTEL_SEMCONV_STABILITY_OPT_IN: 'http', SPANLINE_BENCH_MODE: mode },
    })),
  ];
};

/**
 * Of a subject and of the untraced service beside it. `perSecond`: at saturation, by turns; CPU a request, memory and latencies: at `rate`, both
 * at the same time.
 */
async function round({ own, beside, path, seconds, rate }) {
  const byTurns = Array.from({ length: PAIRS }, () => [beside.port, own.port]).flat();
  const perSecond = (await load(byTurns, { seconds, path })).map((said) => said.perSecond);
  const pairs = Array.from({ length: PAIRS }, (_, i) => ({ beside: perSecond[2 * i], own: perSecond[2 * i + 1] }));
  await sleep(AFTER_MS);
  if (rate === undefined) return { pairs };
  const before = [own.cpuUs(), beside.cpuUs()];
  const [{ p50, p99 }] = await load([own.port, beside.port], { seconds, rate, path });
  await sleep(AFTER_MS);
  const [cpuUs, besideCpuUs] = [own, beside].map((one, i) => (one.cpuUs() - before[i]) / (rate * seconds));
  return { pairs, p50, p99, rate, cpuUs, besideCpuUs, rssMb: own.rssMb() - beside.rssMb() };
}

async function measureApp(app, all, { node, quick, log }) {
  const kind = quick ? 'quick' : 'full';
  // What another app has left would be read at the start.
  const archive = mkdtempSync(join(root, '.tmp/bench-server-'));
  const subjects = all.map((one) =>
    one.mode === 'archive' ? { ...one, env: { ...one.env, SPANLINE_ARCHIVE: archive } } : one,
  );
  const [untraced] = subjects;
  const services = new Map();
  const given = new Map(subjects.map((subject) => [subject, []]));
  let rate;
  try {
    for (const subject of subjects) {
      const pair = { own: new Service({ app, node, ...subject }), beside: new Service({ app, node, ...untraced }) };
      services.set(subject, pair);
      for (const service of Object.values(pair)) await service.start();
    }
    for (let turn = 0; turn <= ROUNDS[kind]; turn++) {
      log(`server ${app}, round ${turn} of ${ROUNDS[kind]}`);
      const first = turn % subjects.length;
      let perSecond;
      for (const subject of [...subjects.slice(first), ...subjects.slice(0, first)]) {
        const how = { path: APPS[app], seconds: SECONDS[kind], rate };
        const figures = await round({ ...services.get(subject), ...how });
        // The first round teaches the optimiser, and tells how much the untraced service can take.
        if (turn > 0) given.get(subject).push(figures);
        else if (subject.mode === 'none') perSecond = figures.pairs.at(-1).own;
      }
      rate ??= Math.round(perSecond / 4);
    }
    return subjects.map((subject) => ({
      ...subject,
      startUs: services.get(subject).own.startUs,
      rounds: given.get(subject),
    }));
  } finally {
    for (const { own, beside } of services.values()) await Promise.all([own.stop(), beside.stop()]);
    rmSync(archive, { recursive: true, force: true });
  }
}

export async function measure(node, { quick, only = /./, log }) {
  const version = versionOf(node);
  ensurePeers('server');
  const { http } = await startSink();
  const wanted = Object.keys(APPS).filter((app) => only.test(app) && (app !== 'redis' || hasRedis()));
  if (only.test('redis') && !wanted.includes('redis')) log('server: redis skipped, no redis-server here');
  const redis = wanted.includes('redis') ? await startRedis() : undefined;
  const subjects = subjectsOf(http).map((subject) => ({
    ...subject,
    env: { ...subject.env, REDIS_PORT: String(redis?.port) },
  }));
  const results = [];
  try {
    for (const app of wanted) {
      const options = { node, quick, log: (line) => log(`Node ${version}: ${line}`) };
      results.push(...rowsOf(app, await measureApp(app, subjects, options)));
    }
  } finally {
    await redis?.stop();
  }
  return { version, results };
}
