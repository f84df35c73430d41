// Proves that a fast-call file works in this Node: optimised code really takes the fast path, and both paths tell the
// same time. Run in a process of its own, because a wrong layout may crash it. Arguments: tsc.node, tsc_fast.node.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const native = require(process.argv[2]);
const fast = require(process.argv[3]);
native.claimSource(0);
const now = fast.wrap(native.nowAddress());

const CALLS = 1000;
const ROUNDS = 5000;

function readMany() {
  let last = 0;
  for (let i = 0; i < CALLS; i++) {
    const ticks = now();
    if (!(ticks >= last)) throw new Error(`time went from ${last} to ${ticks}`);
    last = ticks;
  }
  return last;
}

for (let round = 0; round < ROUNDS; round++) readMany();
const slowBefore = fast.slowCalls();
for (let round = 0; round < ROUNDS; round++) {
  const before = native.now();
  const last = readMany();
  const after = native.now();
  if (!(before <= last && last <= after)) throw new Error(`${last} is not between ${before} and ${after}`);
}
const slow = fast.slowCalls() - slowBefore;
// A deoptimisation now and then is V8's right; the fast path must be what usually happens.
if (slow > CALLS * ROUNDS * 0.01) throw new Error(`${slow} of ${CALLS * ROUNDS} calls took the slow path`);
console.log(`fast call works, ${slow} of ${CALLS * ROUNDS} calls took the slow path`);
