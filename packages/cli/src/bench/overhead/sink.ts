// Starts the sink that takes the traces of an overhead run, and asks it what came.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { plugNPlayArguments } from 'spanline/internal/base';
import { builtFileUrl } from '../../run-program.js';

/** A sink that runs. */
export interface Sink {
  readonly endpoint: string;
  /** Bytes that have come so far. */
  bytes(): Promise<number>;
  stop(): void;
}

/** Starts one. */
export const startSink = async (): Promise<Sink> => {
  // It must not be traced, whatever the environment says.
  const env = { ...process.env, NODE_OPTIONS: '' };
  const program = fileURLToPath(builtFileUrl('bench/otlp-sink.js'));
  const child = fork(program, {
    env,
    stdio: ['ignore', 2, 2, 'ipc'],
    execArgv: plugNPlayArguments(program),
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    endpoint: `http://127.0.0.1:${port}`,
    async bytes() {
      child.send('how many');
      const [{ bytes }] = (await once(child, 'message')) as [{ bytes: number }];
      return bytes;
    },
    stop: () => void child.disconnect(),
  };
};
