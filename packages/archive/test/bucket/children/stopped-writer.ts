// Writes to an archive in a bucket by way of one of several spools, and does not upload: traces 0 to 9, `flushed 0 SPOOL`; then, for each line of standard input, as
// if a minute had passed, ten more, `flushed LOSSES NOTICE`.
// Arguments: PLACE HOME.
import { createInterface } from 'node:readline';
import { timers } from 'spanline/internal/base';
import { Archive } from '../../../src/archive.js';
import { numberedTrace } from '../../archive/support/numbered-traces.js';

const [place, home] = process.argv.slice(2) as [string, string];

const notices: string[] = [];
const archive = await Archive.open(place, {
  ...{ spool: home, spoolIsShared: true, cacheDirectory: '', segmentMs: 3_600_000 },
  onNotice: (line) => notices.push(line),
});
let n = 0;
const write = async (): Promise<void> => {
  for (const end = n + 10; n < end; n++) archive.append(numberedTrace(n));
  await archive.flush();
};

await write();
process.stdout.write('flushed 0\n');
const { monotonicMs } = timers;
for await (const _ of createInterface({ input: process.stdin })) {
  timers.monotonicMs = () => monotonicMs() + 61_000;
  await write();
  const { bucket } = await archive.stats();
  process.stdout.write(`flushed ${bucket?.spoolLosses} ${notices.join(' ')}\n`);
}
