// Writes numbered traces to an archive until it is killed, and says after every flush how many are acknowledged: `ack N`.
// Arguments: DIRECTORY FIRST [MOST traces; then it only lives on].
import { Archive } from '../../../src/archive.js';
import { seededRandom } from '../../segment/support/synthetic-spans.js';
import { numberedTrace } from '../support/numbered-traces.js';

const [directory, firstText, max = 'Infinity'] = process.argv.slice(2) as [string, string, string?];
const first = Number(firstText);
const last = first + Number(max);
const random = seededRandom(first);

const archive = await Archive.open(directory, { segmentSpans: 150, unsortedSpans: 100, mergedSpans: 3000 });
process.stdout.write(`ack ${first}\n`);
for (let n = first; n < last; ) {
  const end = n + 1 + Math.floor(random() * 10);
  for (; n < end; n++) archive.append(numberedTrace(n));
  await archive.flush();
  process.stdout.write(`ack ${n}\n`);
  const chance = random();
  if (chance < 0.05) await archive.compact();
  else if (chance < 0.1) await archive.seal();
}
setInterval(() => {}, 1000);
