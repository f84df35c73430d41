// node scripts/build-cbtemulator.mjs: prints the path of a Bigtable emulator, building one from Debian's Go packages if need be.
import { HOW_TO_GET } from './lib/bigtable-emulator.mjs';
import { ensureEmulator } from './lib/build-emulator.mjs';
import { failWith } from './lib/run.mjs';

try {
  const program = ensureEmulator();
  if (program === undefined) throw new Error(HOW_TO_GET);
  console.log(program);
} catch (error) {
  failWith(error);
}
