// node scripts/build-collector.mjs: prints the path of an OpenTelemetry Collector, building one with Go 1.25 or later if need be.
import { ensureCollector } from './lib/build-collector.mjs';
import { HOW_TO_GET } from './lib/collector.mjs';
import { failWith } from './lib/run.mjs';

try {
  const program = await ensureCollector();
  if (program === undefined) throw new Error(HOW_TO_GET);
  console.log(program);
} catch (error) {
  failWith(error);
}
