// A server of Kafka's protocol of its own for a test, with its data in memory, or a line that says why there is none.
import { findKafka, HOW_TO_GET } from '../../../scripts/lib/kafka.mjs';
import { freePort, isListening } from '../../../scripts/lib/local-ports.mjs';
import { startGuarded, withFreePorts } from '../../../scripts/lib/programs.mjs';
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

const startOnce = async (): Promise<Kafka> => {
  const port = await freePort();
  const stop = await startGuarded(program as string, [String(port)], { isUp: () => isListening(port) });
  return { broker: `127.0.0.1:${port}`, stop };
};

export const startKafka = (): Promise<Kafka> => withFreePorts(startOnce);
