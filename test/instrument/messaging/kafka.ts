// A server of Kafka's protocol of its own for a test, with its data in memory, or a line that says why there is none.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findKafka, HOW_TO_GET } from '../../../scripts/lib/kafka.mjs';
import { freePort, isListening } from '../../../scripts/lib/local-ports.mjs';
import { provided } from '../../support/built-with-go.js';

const { program, reason } = await provided({
  name: 'a server of Kafka',
  script: 'build-kafka.mjs',
  howToGet: HOW_TO_GET,
  find: findKafka,
});

/** Whether there is one here. */
export const hasKafka = program !== undefined;
if (!hasKafka) console.info(`skipped: ${reason}`);

export interface Kafka {
  readonly broker: string;
  stop(): Promise<void>;
}

export const startKafka = async (): Promise<Kafka> => {
  const port = await freePort();
  const server = spawn(program as string, [String(port)], { stdio: 'ignore' });
  const gone = once(server, 'exit');
  while (!(await isListening(port))) {
    if (server.exitCode !== null) throw new Error(`the server of Kafka ended with ${server.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    broker: `127.0.0.1:${port}`,
    async stop() {
      server.kill('SIGTERM');
      await gone;
    },
  };
};
