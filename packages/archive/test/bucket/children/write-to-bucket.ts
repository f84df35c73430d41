// Writes numbered traces to an archive in a bucket until it is killed; `sealed FIRST END` when all of these are said to be in the bucket.
// Arguments: PLACE SPOOL FIRST.
import { setTimeout as sleep } from 'node:timers/promises';
import { Archive } from '../../../src/archive.js';
import { numberedTrace } from '../../archive/support/numbered-traces.js';
import { seededRandom } from '../../segment/support/synthetic-spans.js';

const [place, spool, firstText] = process.argv.slice(2) as [string, string, string];
const first = Number(firstText);
const random = seededRandom(first);

const archive = await Archive.open(place, { spool, cacheDirectory: '', unsortedSpans: 30 });
for (let n = first; ; ) {
  const end = n + 1 + Math.floor(random() * 20);
  for (; n < end; n++) archive.append(numberedTrace(n));
  if (random() < 0.3) await archive.flush();
  try {
    await archive.seal();
    process.stdout.write(`sealed ${first} ${n}\n`);
  } catch (error) {
    // The store was troubled for too long: what is in the spool is tried again.
    process.stdout.write(`failed ${String(error)}\n`);
  }
  await sleep(random() * 800);
}
