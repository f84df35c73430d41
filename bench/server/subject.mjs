// A service in a process of its own, traced from outside or not at all. Everything it costs is read from the system: nothing of the benchmark
// runs inside it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../../scripts/lib/run.mjs';
import { cpuUsOf, rssMbOf } from '../lib/process.mjs';

const MODULES = join(root, 'bench/peers/server/node_modules');

const at = (name) => fileURLToPath(new URL(name, import.meta.url));

/** How a subject is loaded into the service: arguments of node, by `preload`. */
const LOADED = {
  none: [],
  register: ['--import', 'spanline/register'],
  noop: ['--import', at('noop.mjs')],
  official: ['--require', at('official.cjs')],
  mixed: ['--import', at('official-on-spanline.mjs')],
};

export class Service {
  #child;

  /** @param {{ app: string, preload: keyof LOADED, env: object, node: string }} how */
  constructor({ app, preload, env, node }) {
    this.how = { app, preload, env, node };
  }

  /** Resolves when it listens. */
  async start() {
    const { app, preload, env, node } = this.how;
    this.#child = spawn(node, [...LOADED[preload], at(`apps/${app}.cjs`)], {
      cwd: root,
      env: { ...process.env, NODE_PATH: MODULES, OTEL_SERVICE_NAME: 'bench', NODE_ENV: 'production', ...env },
      stdio: ['ignore', 'ignore', 2, 'ipc'],
    });
    const [{ port }] = await once(this.#child, 'message');
    this.port = port;
    /** CPU of all threads until it listened, us. */
    this.startUs = this.cpuUs();
  }

  cpuUs() {
    return cpuUsOf(this.#child.pid);
  }

  rssMb() {
    return rssMbOf(this.#child.pid);
  }

  async stop() {
    if (this.#child.exitCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}
