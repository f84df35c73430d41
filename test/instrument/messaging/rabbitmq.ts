// A RabbitMQ of its own for a test, on free ports, in a new folder, or a line that says why there is none.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, isListening } from '../../../scripts/lib/local-ports.mjs';
import { startGuarded, withFreePorts } from '../../../scripts/lib/programs.mjs';

const PLACE = '/usr/lib/rabbitmq/lib';

/** The script itself: the one on PATH changes the user. */
const findServer = (): string | undefined => {
  try {
    const version = readdirSync(PLACE).find((name) => name.startsWith('rabbitmq_server-'));
    return version === undefined ? undefined : join(PLACE, version, 'sbin/rabbitmq-server');
  } catch {
    return undefined;
  }
};

const program = findServer();

/** Whether there is one here. */
export const hasRabbitmq = program !== undefined;
if (!hasRabbitmq) console.info('skipped: no RabbitMQ here (Debian package rabbitmq-server)');

export interface Rabbitmq {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

const startOnce = async (): Promise<Rabbitmq> => {
  const folder = mkdtempSync(join(tmpdir(), 'spanline-rabbitmq-'));
  const [port, own, names] = [await freePort(), await freePort(), await freePort()];
  const plugins = join(folder, 'plugins');
  writeFileSync(plugins, '[].');
  const env = {
    ...process.env,
    HOME: folder,
    RABBITMQ_NODENAME: `spanline-${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(own),
    RABBITMQ_MNESIA_BASE: join(folder, 'data'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_PID_FILE: join(folder, 'pid'),
    RABBITMQ_CONFIG_FILE: join(folder, 'none'),
    RABBITMQ_ENABLED_PLUGINS_FILE: plugins,
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_EPMD_PORT: String(names),
  };
  const options = { cwd: folder, env, signal: 'TERM' } as const;
  const stop = await startGuarded(program as string, [], { ...options, folder, isUp: () => isListening(port) });
  return {
    url: `amqp://guest:guest@127.0.0.1:${port}`,
    port,
    async stop() {
      await stop();
      // It keeps the names of nodes, and would outlive this one.
      spawnSync('epmd', ['-kill'], { env, stdio: 'ignore' });
    },
  };
};

export const startRabbitmq = (): Promise<Rabbitmq> => withFreePorts(startOnce);
