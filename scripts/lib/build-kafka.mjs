// Builds a server of Kafka's protocol where there is none, with the Go on PATH, which has to be a 1.26.
import { fileURLToPath } from 'node:url';
import { ensureProgram } from './go-programs.mjs';
import { BUILT, findKafka, VERSION } from './kafka.mjs';

/** The path of one; undefined where there is neither one nor Go. */
export const ensureKafka = () =>
  ensureProgram('a server of Kafka', findKafka, {
    version: VERSION,
    built: BUILT,
    folder: fileURLToPath(new URL('./kafka', import.meta.url)),
    target: '.',
  });
