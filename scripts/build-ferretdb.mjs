// node scripts/build-ferretdb.mjs: prints the path of a FerretDB, building one with Go 1.25 or later if need be.
import { ensureFerretdb } from './lib/build-ferretdb.mjs';
import { HOW_TO_GET } from './lib/ferretdb.mjs';
import { failWith } from './lib/run.mjs';

try {
  const program = await ensureFerretdb();
  if (program === undefined) throw new Error(HOW_TO_GET);
  console.log(program);
} catch (error) {
  failWith(error);
}
