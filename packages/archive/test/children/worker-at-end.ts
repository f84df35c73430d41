// Gives a built archive work for its worker and ends in one of several ways while that is under way; a line when everything is appended.
// Arguments: ENTRY (a file of dist) DIRECTORY HOW.
import { pathToFileURL } from 'node:url';
import type { Archive as ArchiveType } from '../../src/archive.js';
import { numberedTrace } from '../archive/support/numbered-traces.js';

const [entry, directory, how] = process.argv.slice(2) as [string, string, string];
const { Archive } = (await import(pathToFileURL(entry).href)) as { readonly Archive: typeof ArchiveType };

const archive = await Archive.open(directory, { segmentSpans: 3000, maintain: false });
let n = 0;
const append = (traces: number): void => {
  for (const end = n + traces; n < end; n++) archive.append(numberedTrace(n));
};

if (how === 'at-exit') process.on('exit', () => append(2000));
else append(2000);
if (how === 'exit') process.exit(0);
if (how === 'close') await archive.close();
if (how === 'for-ever') {
  for (;;) {
    await archive.flush();
    process.stdout.write(`ack ${n}\n`);
    append(300);
    if (n % 3000 === 2000) await archive.compact();
  }
}
