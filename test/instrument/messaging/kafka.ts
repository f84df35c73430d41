// A server of Kafka's protocol of its own for a test, with its data in memory, or a line that says why there is none.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ensureKafka } from '../../../scripts/lib/build-kafka.mjs';
import { HOW_TO_GET } from '../../../scripts/lib/kafka.mjs';
import { freePort, isListening } from '../../../scripts/lib/local-ports.mjs';

// Where Go is on PATH it is built first, once a machine.
const program = await ensureKafka().catch(() => undefined);

/** Whether there is one here. */
export const hasKafka = program !== undefined;
if (!hasKafka) console.info(`skipped: ${HOW_TO_GET}`);

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
