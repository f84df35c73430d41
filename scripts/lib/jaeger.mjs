// Finds and starts a Jaeger 2 that keeps traces in memory, for tests and benchmarks that compare with it.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './local-ports.mjs';
import { answers, isProgram, namedBy, onPath, startGuarded, withFreePorts } from './programs.mjs';

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
  for (const name of ['otlp', 'thriftHttp', 'query', 'grpc', 'health']) ports[name] = await freePort();
  for (const name of ['compact', 'binary']) ports[name] = await freeUdpPort();
  return ports;
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
  const stop = await startGuarded(program, ['--config', file], { folder, isUp: () => isUp(ports) });
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
  return withFreePorts(() => startOnce(program, maxTraces));
}
