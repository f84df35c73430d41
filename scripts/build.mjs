// npm run build: everything in dist (code and declarations) and the addon for the Node that runs this.
// --no-types leaves the declarations out. Prints nothing on standard output.
import { ensureBuilt } from './lib/build.mjs';
import { failWith } from './lib/run.mjs';

await ensureBuilt({ types: !process.argv.includes('--no-types') }).catch(failWith);
