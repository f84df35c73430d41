// Proves that a fast-call file works in this Node: optimised code really takes the fast path, both paths tell the
// same time, and the timeline starts and ends. Run in a process of its own, because a wrong layout may crash it. Arguments: tsc.node, tsc_fast.node.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const native = require(process.argv[2]);
const fast = require(process.argv[3]);
native.claimSource(0);
const now = fast.wrap(native.nowAddress());

const CALLS = 1000;
const ROUNDS = 1000;
// Newer V8 goes through several tiers before the one that makes fast calls, and compiles beside the program.
const MAX_ATTEMPTS = 100;

function readMany() {
  let last = 0;
  for (let i = 0; i < CALLS; i++) {
    const ticks = now();
    if (!(ticks >= last)) throw new Error(`time went from ${last} to ${ticks}`);
    last = ticks;
  }
  return last;
}

/** Slow calls in a million calls; throws when the two paths disagree. */
function attempt() {
  const slowBefore = fast.slowCalls();
  for (let round = 0; round < ROUNDS; round++) {
    const before = native.now();
    const last = readMany();
    const after = native.now();
    if (!(before <= last && last <= after)) throw new Error(`${last} is not between ${before} and ${after}`);
  }
  return fast.slowCalls() - slowBefore;
}

let slow = CALLS * ROUNDS;
let attempts = 0;
while (slow > 0 && attempts++ < MAX_ATTEMPTS) slow = attempt();
if (slow > 0) throw new Error(`after ${attempts} million calls, ${slow} of a million still took the slow path`);

// The timeline interrupts JavaScript and calls it there: a crash ends this process, and the file is not installed.
const BUSY_MS = 40;
let samples = 0;
const sample = () => {
  samples++;
};
if (!fast.timelineStart(new Float64Array(128), 4, 5, 4, sample, new Int32Array(2), () => {}))
  throw new Error('the timeline does not start');
const busySince = process.hrtime.bigint();
while (process.hrtime.bigint() - busySince < BUSY_MS * 1e6);
fast.timelineStop();
if (!(fast.timelineNow() > 0 && fast.timelineOpen() === 0)) throw new Error('the timeline does not end');
console.log(`fast call works, optimised after ${attempts} million calls; ${samples} samples of the timeline`);
