// Maintains an archive in a bucket until it is killed; prints what it has done after each look.
// Arguments: PLACE GRACE_MS.
import { setTimeout as sleep } from 'node:timers/promises';
import { BucketMaintainer } from '../../../src/bucket/bucket-maintenance.js';
import { openObjectStore } from '../../../src/bucket/object-store.js';

const [place, graceText] = process.argv.slice(2) as [string, string];

const maintainer = new BucketMaintainer(openObjectStore(place), { graceMs: Number(graceText), mergedSpans: 3000 });
// A killed one keeps its turn to merge for two minutes. Every fourth look merges whoever has it, as `--once` does: two that merge at a time must do no harm.
for (let look = 1; ; look++) {
  await maintainer.pass({ all: look % 4 === 0 }).catch(() => {});
  process.stdout.write(`stats ${JSON.stringify(maintainer.stats())}\n`);
  await sleep(300);
}
