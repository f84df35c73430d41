// Finds a server of Kafka's protocol, which tests of kafkajs talk to: kfake, of franz-go, with its data in memory.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isProgram, namedBy } from './programs.mjs';

/** The commit of the module that is built: kafka/go.mod has it, and what it needs. */
export const VERSION = '01f206a7e32c';

/** Where build-kafka.mjs puts it: outside the checkout, since it is one for a machine. */
export const BUILT = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), `spanline/kafka-${VERSION}/kafka`);

/** How to get one, in one line. */
export const HOW_TO_GET =
  'no server of Kafka is here. With Go 1.26 or later on PATH it is built in a minute, once a machine: node scripts/build-kafka.mjs';

/**
 * The path of the one built here before, or named in KFAKE_BIN, which takes its port as argument; undefined when there is none.
 * @returns {string | undefined}
 */
export const findKafka = () => namedBy('KFAKE_BIN') ?? (isProgram(BUILT) ? BUILT : undefined);
