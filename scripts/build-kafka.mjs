// node scripts/build-kafka.mjs: prints the path of a server of Kafka's protocol, building one with Go 1.26 or later if need be.
import { ensureKafka } from './lib/build-kafka.mjs';
import { HOW_TO_GET } from './lib/kafka.mjs';
import { failWith } from './lib/run.mjs';

try {
  const program = await ensureKafka();
  if (program === undefined) throw new Error(HOW_TO_GET);
  console.log(program);
} catch (error) {
  failWith(error);
}
