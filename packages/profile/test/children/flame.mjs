// The same work with labels and without: `flame.mjs CARRIER` prints how many samples each stack has when the labels are taken off. The
// carrier `none` does without labels from the beginning. What is done, in which order and how much of it, is the same each time.
import { runInThisContext } from 'node:vm';
import { DynamicLabel, selectLabels, startProfile, toFolded } from '@spanline/profile';

const [carrier = 'none', rounds = '6000'] = process.argv.slice(2);
const isLabelled = carrier !== 'none';

// Units of work by the kind of task that does it and the place in which it is done.
const done = {};
let kind = '';

// xorshift (Marsaglia, 2003): no two pieces of work are of one length, and every process has the same ones.
let state = 88_172_645;
const jitter = (mean, place) => {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  const units = mean * (0.5 + (state >>> 0) / 2 ** 32);
  done[kind][place] += units;
  return units;
};

// In a branch that is never taken: more code than V8 inlines. Samples of inlined loops go now to the one function, now to the other.
const PADDING = `if (jitter === undefined) { ${'jitter = [jitter];'.repeat(400)} }`;

const { parse, scan, answer } = runInThisContext(
  `((jitter) => {
    function spin(units) { ${PADDING} let sum = 0; for (let i = 0; i < units; i++) sum += Math.sqrt(i + sum); return sum; }
    function compare() { ${PADDING} return spin(jitter(2000, 'compare')); }
    function parse() { ${PADDING} return spin(jitter(4000, 'parse')); }
    function scan() { ${PADDING} let sum = 0; for (let i = jitter(4000, 'scan'); i > 0; i--) sum += Math.cbrt(i); return sum + compare(); }
    function answer() { ${PADDING} return parse() + scan(); }
    return { parse, scan, answer };
  })`,
  { filename: 'work.js' },
)(jitter);

async function answerLater() {
  const parsed = parse();
  await undefined;
  return parsed + scan();
}
function* answerInSteps() {
  const parsed = parse();
  yield Promise.resolve();
  return parsed + scan();
}

/** A coroutine without a label. */
async function runSteps(life) {
  let step = life.next();
  while (!step.done) {
    await step.value;
    step = life.next();
  }
  return step.value;
}

const labels = Array.from({ length: 600 }, (_, i) => new DynamicLabel('query', `q${i}`));
const node = labels[0].fork({ node: 'scan' });
let next = 0;
const labelOf = () => labels[next++ % labels.length];

function applyTask() {
  return isLabelled ? labelOf().apply(answer) : answer();
}
function innerTask() {
  return isLabelled ? node.apply(answer) : answer();
}
function nestedTask() {
  return isLabelled ? labelOf().apply(innerTask) : innerTask();
}
async function asyncTask() {
  return isLabelled ? labelOf().run(answerLater) : answerLater();
}
async function boundTask() {
  const task = isLabelled ? labelOf().bind(answer) : answer;
  await new Promise((resolve) => {
    setImmediate(function immediateTask() {
      resolve(task());
    });
  });
}
async function coroutineTask() {
  return isLabelled ? labelOf().coroutine(answerInSteps)() : runSteps(answerInSteps());
}

const begin = (next) => {
  kind = next;
  done[kind] ??= { parse: 0, scan: 0, compare: 0 };
};

async function main() {
  for (let i = 0; i < Number(rounds); i++) {
    begin('apply');
    applyTask();
    begin('nested');
    nestedTask();
    begin('async');
    await asyncTask();
    begin('bound');
    await boundTask();
    begin('coroutine');
    await coroutineTask();
  }
}

const running = await startProfile({ everyMs: 0.25, ...(isLabelled && { carrier }) });
await main();
const profile = running.stop();
const folded = toFolded(
  selectLabels(profile, () => false),
  { weight: 'samples' },
);
console.log(JSON.stringify({ folded, done }));
