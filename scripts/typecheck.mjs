// npm run typecheck: the types of sources, tests, benchmarks, examples and the page.
import { COMPILER, failWith, runQuietly } from './lib/run.mjs';

try {
  for (const project of ['.', 'tsconfig.legacy-decorators.json', 'packages/ui/src/page'])
    runQuietly(process.execPath, [COMPILER, '-p', project]);
} catch (error) {
  failWith(error);
}
