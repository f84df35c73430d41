// node bench/gate/program.mjs: what the gate of CI judges, as a list of figures: CPU time an operation of recording, and of a request of the service
// that sends its traces or writes them to an archive, on a machine of a fixed speed (reference.mjs). Both commits run this file, so it must call nothing that
// the older one has not.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quantile } from '../lib/stats.mjs';
import { REFERENCE_NS, reference } from './reference.mjs';

const WARM_UP = 24;
const SAMPLES = 40;
/** Operations of a sample: so many take half a millisecond and more, of which the counter of CPU time tells microseconds. */
const RECORDING = {
  'local-span 100': 5000,
  'local-span-1-property 100': 2500,
  'span 100': 2500,
  'async-span 100': 1000,
  'root-1 1': 1000,
};
const REQUESTS = 30;

async function recording() {
  const { cases } = await import('../recording/spanline.mjs');
  return Object.entries(RECORDING).map(([key, operations]) => {
    const { run, drain, opsPerRun } = cases.find(({ name, n }) => `${name} ${n}` === key);
    const body = async () => {
      await run(operations / opsPerRun);
      await drain?.();
    };
    return { name: `recording ${key}`, operations, body };
  });
}

async function service() {
  process.env.SPANLINE_BENCH_MODE = 'send';
  return [{ name: 'service send flow', operations: REQUESTS, body: await flow() }];
}

/** A request of the service, reported. */
async function flow() {
  const { tracer } = await import('../service/spanline.mjs');
  const { flush } = await import('../../dist/esm/index.js');
  const { SHAPES, serveRequests } = await import('../service/shapes.mjs');
  return async () => {
    await serveRequests(SHAPES.flow, tracer, REQUESTS);
    await flush();
  };
}

/** Where the archive is built, in this commit or an older one. */
const ARCHIVES = ['../../packages/archive/dist/esm/index.js', '../../dist/esm/archive/index.js'];

/** Up to the write-ahead file: what comes behind is left for when the service is idle. */
async function archive() {
  const built = ARCHIVES.find((path) => existsSync(fileURLToPath(new URL(path, import.meta.url))));
  const { Archive, ArchiveReporter } = await import(built);
  const { setReporter } = await import('../../dist/esm/index.js');
  const directory = mkdtempSync(join(tmpdir(), 'spanline-gate-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  const body = await flow();
  const options = { maintain: false, worker: false, segmentMs: 3_600_000, segmentSpans: 500_000 };
  setReporter(new ArchiveReporter(await Archive.open(directory, options)));
  return [{ name: 'service archive flow', operations: REQUESTS, body }];
}

/** Of the process, all threads, in ns. */
const cpuNs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
};

const referenceNs = () => {
  const start = cpuNs();
  reference();
  return cpuNs() - start;
};

/** Collections, and other processes, make samples dear and none cheap, so those below the median tell of the code; the very least is one of a dear reference. */
const SHARE = 0.25;

async function measure(measured) {
  for (let i = 0; i < WARM_UP; i++) {
    for (const { body } of measured) {
      reference();
      await body();
    }
  }
  const samples = measured.map(() => []);
  for (let i = 0; i < SAMPLES; i++) {
    for (const [at, { body, operations }] of measured.entries()) {
      const before = referenceNs();
      const start = cpuNs();
      await body();
      const took = (cpuNs() - start) / operations;
      samples[at].push((took * REFERENCE_NS) / Math.min(before, referenceNs()));
    }
  }
  return measured.map(({ name }, at) => ({ name, metric: 'cpu', unit: 'ns', value: quantile(samples[at], SHARE) }));
}

const figures = await measure(await recording());
// Loaded last: it sets a reporter of its own.
figures.push(...(await measure(await service())));
figures.push(...(await measure(await archive())));
// The sink would keep the process alive, and `exit` would lose what a pipe has not taken.
process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit());
