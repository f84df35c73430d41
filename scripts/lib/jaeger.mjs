// Finds and starts a Jaeger 2 that keeps traces in memory, for tests and benchmarks that compare with it.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isProgram, letGo, namedBy, onPath, spawnGuarded } from './programs.mjs';

/** The module that is built, and what spanline is compared with. */
export const VERSION = 'v1.76.0';

/** Where build-jaeger.mjs puts it: outside the checkout, since it is one for a machine. */
export const BUILT = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), `spanline/jaeger-${VERSION}/jaeger`);

/** How to get one, in one line. */
export const HOW_TO_GET =
  `no Jaeger 2 is here. Put jaeger on PATH or name it in JAEGER_BIN; or, with Go 1.25 or later on PATH, build ${VERSION} ` +
  'in some minutes, once a machine: node scripts/build-jaeger.mjs';

/**
 * The path of `jaeger`: JAEGER_BIN, else on PATH, or built here before; undefined when there is none.
 * @returns {string | undefined}
 */
export const findJaeger = () => namedBy('JAEGER_BIN') ?? onPath('jaeger') ?? (isProgram(BUILT) ? BUILT : undefined);

const START_MS = 60_000;
/** Somebody else may take a port between its choice and its use. */
const ATTEMPTS = 3;

async function freeTcpPort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function freeUdpPort() {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  await once(socket, 'close');
  return port;
}

const at = (port) => `127.0.0.1:${port}`;

/** Its all-in-one configuration with ports of ours, and without batches: what was acknowledged is found at once. */
const configOf = ({ otlp, thriftHttp, compact, binary, query, grpc, health }, maxTraces) => ({
  service: {
    extensions: ['jaeger_storage', 'jaeger_query', 'healthcheckv2'],
    pipelines: { traces: { receivers: ['otlp', 'jaeger'], exporters: ['jaeger_storage_exporter'] } },
    telemetry: { metrics: { level: 'none' }, logs: { level: 'warn' } },
  },
  extensions: {
    healthcheckv2: { use_v2: true, http: { endpoint: at(health) } },
    jaeger_query: {
      storage: { traces: 'memory' },
      http: { endpoint: at(query) },
      grpc: { endpoint: at(grpc) },
    },
    jaeger_storage: { backends: { memory: { memory: { max_traces: maxTraces } } } },
  },
  receivers: {
    otlp: { protocols: { http: { endpoint: at(otlp) } } },
    jaeger: {
      protocols: {
        thrift_http: { endpoint: at(thriftHttp) },
        thrift_compact: { endpoint: at(compact) },
        thrift_binary: { endpoint: at(binary) },
      },
    },
  },
  exporters: { jaeger_storage_exporter: { trace_storage: 'memory' } },
});

async function choosePorts() {
  const ports = {};
  for (const name of ['otlp', 'thriftHttp', 'query', 'grpc', 'health']) ports[name] = await freeTcpPort();
  for (const name of ['compact', 'binary']) ports[name] = await freeUdpPort();
  return ports;
}

async function answers(url, isRight = () => true) {
  try {
    return isRight(await fetch(url, { signal: AbortSignal.timeout(1000) }));
  } catch {
    return false;
  }
}

/** Queries are answered first, and what takes traces begins to listen behind that. */
const isUp = async ({ query, otlp, thriftHttp }) =>
  (await answers(`http://${at(query)}/api/services`, ({ ok }) => ok)) &&
  (await answers(`http://${at(otlp)}`)) &&
  (await answers(`http://${at(thriftHttp)}`));

async function startOnce(program, maxTraces) {
  const ports = await choosePorts();
  const folder = mkdtempSync(join(tmpdir(), 'spanline-jaeger-'));
  const file = join(folder, 'config.json');
  writeFileSync(file, JSON.stringify(configOf(ports, maxTraces)));
  const child = spawnGuarded(program, ['--config', file]);
  let output = '';
  const keep = (chunk) => {
    output = `${output}${chunk}`.slice(-10_000);
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  let isOver = false;
  const exited = new Promise((resolve) => {
    child.once('error', resolve);
    child.once('exit', resolve);
  }).then(() => {
    isOver = true;
    rmSync(folder, { recursive: true, force: true });
  });
  const stop = async () => {
    child.ref();
    child.stdin.end();
    await exited;
  };
  const end = Date.now() + START_MS;
  while (!(await isUp(ports))) {
    if (isOver || Date.now() > end) {
      await stop();
      throw new Error(`${program} did not start: ${output.trim() || 'no output'}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  letGo(child);
  return {
    queryUrl: `http://${at(ports.query)}`,
    otlpUrl: `http://${at(ports.otlp)}`,
    thriftUrl: `http://${at(ports.thriftHttp)}/api/traces`,
    compactPort: ports.compact,
    binaryPort: ports.binary,
    stop,
  };
}

/**
 * Start `program` empty on free ports of 127.0.0.1.
 * @param {string} program
 * @param {{ maxTraces?: number }} [options] Traces it holds; the oldest leave.
 * @returns {Promise<import('./jaeger.d.mts').RunningJaeger>}
 */
export async function startJaeger(program, { maxTraces = 100_000 } = {}) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(program, maxTraces);
    } catch (error) {
      if (attempt === ATTEMPTS || !/address already in use/.test(error.message)) throw error;
    }
  }
}
