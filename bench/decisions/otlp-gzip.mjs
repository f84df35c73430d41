// Question: what does gzip cost a service that sends OTLP, and what does it save?
// Answer: see "Compression" in docs/exporters.md, which has what this prints.
// Run: node scripts/build.mjs, then node bench/decisions/otlp-gzip.mjs [ROUNDS]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { median } from '../lib/stats.mjs';

const WAYS = ['untraced', 'none', 'gzip'];
const REQUESTS = 20_000;
const AT_ONCE = 32;

/** Takes OTLP and counts its bytes. */
const sink = http.createServer((request, response) => {
  request.on('data', (chunk) => {
    received += chunk.length;
  });
  request.on('end', () => response.setHeader('content-type', 'application/x-protobuf').end());
});
let received = 0;

/** A service of one route, under register as its arguments ask; says its CPU time when it is asked. */
const service = async () => {
  const server = http.createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1');
  server.on('listening', () => process.send({ port: server.address().port }));
  process.on('message', async () => {
    if (process.env.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined) await (await import('spanline')).flush();
    const { user, system } = process.cpuUsage();
    process.send({ cpuUs: user + system });
  });
};

const answerOf = (child) => new Promise((resolve) => child.once('message', resolve));

/** One request after the other, `AT_ONCE` at a time. */
const load = async (port, count) => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE });
  let left = count;
  const one = () =>
    new Promise((resolve, reject) => {
      const request = http.get({ port, host: '127.0.0.1', agent, path: '/' }, (response) =>
        response.resume().on('end', resolve),
      );
      request.on('error', reject);
    });
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) await one();
    }),
  );
  agent.destroy();
};

/** CPU of the service and bytes that it sent, a request. */
const round = async (way) => {
  const traced = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${sink.address().port}`,
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_COMPRESSION: way,
  };
  const child = fork(import.meta.filename, ['service'], {
    env: { ...process.env, ...(way === 'untraced' ? {} : traced) },
    execArgv: way === 'untraced' ? [] : ['--import', 'spanline/register'],
  });
  const { port } = await answerOf(child);
  const figure = async () => {
    child.send('figures');
    return { ...(await answerOf(child)), bytes: received };
  };
  await load(port, REQUESTS);
  const before = await figure();
  await load(port, REQUESTS);
  const after = await figure();
  child.kill();
  return { us: (after.cpuUs - before.cpuUs) / REQUESTS, bytes: (after.bytes - before.bytes) / REQUESTS };
};

const main = async () => {
  await once(sink.listen(0, '127.0.0.1'), 'listening');
  const rounds = Number(process.argv[2] ?? 7);
  const found = Object.fromEntries(WAYS.map((way) => [way, []]));
  for (let i = 0; i < rounds; i++) for (const way of WAYS) found[way].push(await round(way));
  for (const way of WAYS) {
    const us = found[way].map((one) => one.us);
    const bytes = median(found[way].map((one) => one.bytes));
    console.log(
      `${way}: ${median(us).toFixed(1)} us of CPU a request (least ${Math.min(...us).toFixed(1)}), ${bytes.toFixed(0)} bytes`,
    );
  }
  sink.close();
};

await (process.argv[2] === 'service' ? service() : main());
