// An application in a process of its own, traced by ours, by the official packages, or not at all. Nothing of the benchmark runs inside it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isListening } from '../../scripts/lib/local-ports.mjs';
import { cpuUsOf, rssMbOf } from '../lib/process.mjs';
import { REGISTER } from '../lib/subjects.mjs';

export const WAYS = ['untraced', 'spanline', 'official'];

const START_MS = 60_000;
const STOP_MS = 5000;
/** Variables of who runs this must not matter. */
const QUIET = { NODE_OPTIONS: '', NODE_ENV: 'production', OTEL_TRACES_EXPORTER: '', SPANLINE_ARCHIVE: '', CI: '' };

const official = (path) => fileURLToPath(new URL(`node_modules/@opentelemetry/${path}`, import.meta.url));

/** Options of node by which an application is traced, as the documents of either have them. */
const execArgvOf = {
  untraced: () => [],
  spanline: () => ['--import', REGISTER],
  official: ({ isModule = false }) => [
    ...(isModule ? ['--experimental-loader', official('instrumentation/hook.mjs')] : []),
    ...['--require', official('auto-instrumentations-node/dist/register.cjs')],
  ],
};

/** Both send traces and nothing else, of the same conventions, to the same receiver; what belongs to no library is off. */
export const tracedTo = (url) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_SERVICE_NAME: 'bench',
  OTEL_METRICS_EXPORTER: 'none',
  OTEL_LOGS_EXPORTER: 'none',
  OTEL_SEMCONV_STABILITY_OPT_IN: 'http,database',
  OTEL_NODE_DISABLED_INSTRUMENTATIONS: 'dns,net,fs,host-metrics,runtime-node',
  OTEL_NODE_RESOURCE_DETECTORS: 'env,host,os,process',
});

export class Service {
  #child;
  #exit;
  #said = '';

  /** @param {{ application: object, way: string, place: object, node: string, env: object }} how */
  constructor(how) {
    this.how = how;
  }

  /** Resolves with the milliseconds after which it served; rejects with what it said when it does not. */
  async start() {
    const { application, way, place, node, env } = this.how;
    const own = [application.program, ...(application.args?.(place) ?? [])];
    const start = performance.now();
    this.#child = spawn(node, [...execArgvOf[way](application), ...own], {
      cwd: place.folder,
      env: { ...process.env, ...QUIET, ...env, ...application.env?.(place) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#exit = once(this.#child, 'exit');
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      // A service that is told off for every request must not fill the memory of who listens.
      stream.on('data', (chunk) => {
        if (this.#said.length < 20_000) this.#said += chunk;
      });
    }
    while (!(await this.#serves())) {
      const isLate = performance.now() - start > START_MS;
      if (isLate) this.#child.kill('SIGKILL');
      if (isLate || this.#child.exitCode !== null || this.#child.signalCode !== null)
        throw new Error(`${application.name} (${way}) does not listen: ${this.#said}`);
      await sleep(5);
    }
    return performance.now() - start;
  }

  async #serves() {
    const { application, place } = this.how;
    if (!(await isListening(place.port))) return false;
    if (application.ready === undefined) return true;
    const { ok } = await fetch(`http://127.0.0.1:${place.port}${application.ready}`);
    return ok;
  }

  cpuUs() {
    return cpuUsOf(this.#child.pid);
  }

  rssMb() {
    return rssMbOf(this.#child.pid);
  }

  /** How it ends when it is asked to: its code or the signal, `killed` when it does not, and after how long. */
  async stop() {
    const start = performance.now();
    this.#child?.kill('SIGTERM');
    let isKilled = false;
    const late = setTimeout(() => {
      isKilled = true;
      this.#child.kill('SIGKILL');
    }, STOP_MS);
    const [code, signal] = await this.#exit;
    clearTimeout(late);
    return { end: isKilled ? 'killed' : String(code ?? signal), ms: performance.now() - start };
  }
}
