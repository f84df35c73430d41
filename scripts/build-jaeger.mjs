// node scripts/build-jaeger.mjs: prints the path of a Jaeger 2, building one with Go 1.25 or later if need be.
import { ensureJaeger } from './lib/build-jaeger.mjs';
import { HOW_TO_GET } from './lib/jaeger.mjs';
import { failWith } from './lib/run.mjs';

try {
  const program = await ensureJaeger();
  if (program === undefined) throw new Error(HOW_TO_GET);
  console.log(program);
} catch (error) {
  failWith(error);
}
