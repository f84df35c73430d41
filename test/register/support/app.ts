// A program of two traces, for tests of what `--import spanline/register` makes of it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildFirst } from '../../support/built.js';
import { out } from '../../support/child.js';

buildFirst();

/** A file of the test, where it finds the package. */
export const write = (name: string, text: string): string => {
  const file = join(out, name);
  writeFileSync(file, text);
  return file;
};

export const app = write(
  'app.mjs',
  `import { Span } from 'spanline';
   Span.root('work').runToEnd(() => Span.startWithLocalParent('step').end());
   const root = Span.root('job');
   root.end();
   console.log('done');
   if (process.argv[2] === 'wait') setInterval(() => {}, 1000), console.log('ready');
   else process.exitCode = 7;`,
);
