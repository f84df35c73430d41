// A redis of its own for a test, on a free port, without a file.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** Whether there is one here. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;
if (!hasRedis) console.info('skipped: no redis-server here (Debian package redis-server)');

export interface RedisServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** A port of this host on which nothing listens. */
export const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
};

const isUp = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.destroy()).on('error', () => resolve(false));
    socket.on('close', (hadError) => resolve(!hadError));
  });

export const startRedis = async (): Promise<RedisServer> => {
  const port = await freePort();
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const server = spawn('redis-server', options, { stdio: 'ignore' });
  const gone = once(server, 'exit');
  while (!(await isUp(port))) await new Promise((resolve) => setTimeout(resolve, 20));
  return {
    port,
    async stop() {
      server.kill();
      await gone;
    },
  };
};
