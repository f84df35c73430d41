// node scripts/build-versitygw.mjs: prints the path of a versitygw, building one with Go 1.25 or later if need be.
import { ensureVersitygw } from './lib/build-versitygw.mjs';
import { failWith } from './lib/run.mjs';
import { HOW_TO_GET } from './lib/versitygw.mjs';

try {
  const program = await ensureVersitygw();
  if (program === undefined) throw new Error(HOW_TO_GET);
  console.log(program);
} catch (error) {
  failWith(error);
}
