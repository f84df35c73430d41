// Subject: @datadog/pprof. A label of a synchronous stretch is a pair of setContext(). Across awaits: runWithContext() where V8 keeps an
// AsyncContextFrame (Node 24); before, setContext() in a `before` hook of async_hooks. With SPANLINE_BENCH_REUSED the context object is
// changed, not replaced, until a sample was taken with it, as dd-trace does: many times cheaper.
import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { subject as name, time } from '../peers/datadog-pprof.mjs';
import { awaitMany, callCase, several, tiny } from './calls.mjs';
import { followedOverhead, unfollowedOverhead } from './overhead.mjs';
import { EVERY_MS } from './settings.mjs';
import { LABELS, shareCases } from './shares.mjs';
import { WORK } from './work.mjs';

const US_PER_MS = 1000;
const isReused = process.env.SPANLINE_BENCH_REUSED === '1';
const hasFrames = Number(process.versions.node.split('.')[0]) >= 24;

let current;
const replaceContext = (context) => {
  current = context;
  time.setContext(context);
};

const { kSampleCount } = time.constants;
let state;
let seen = -1;
let holder;
const changeContext = (context) => {
  current = context;
  const count = state[kSampleCount];
  if (count === seen) {
    holder.ref = context;
    return;
  }
  seen = count;
  holder = { ref: context };
  time.setContext(holder);
};

const setContext = isReused ? changeContext : replaceContext;
const labelsOf = ({ context }) => {
  const found = context?.context;
  return (isReused ? found?.ref : found) ?? {};
};

const weigh = (profile) => {
  const strings = profile.stringTable.strings;
  const functions = new Map(profile.function.map(({ id, name }) => [id, strings[Number(name)]]));
  const working = new Set(
    profile.location
      .filter(({ line }) => line.some(({ functionId }) => functions.get(functionId) === WORK))
      .map(({ id }) => id),
  );
  const byLabel = {};
  let all = 0;
  for (const { locationId, value, label } of profile.sample) {
    if (!working.has(locationId[0])) continue;
    const weight = Number(value[0]);
    all += weight;
    const query = label.find(({ key }) => strings[Number(key)] === 'query');
    if (query === undefined) continue;
    const text = strings[Number(query.str)];
    byLabel[text] = (byLabel[text] ?? 0) + weight;
  }
  return { all, byLabel };
};

const start = (everyMs, useCPED) => {
  time.start({ intervalMicros: everyMs * US_PER_MS, withContexts: true, useCPED });
  state = time.getState();
  seen = -1;
};

const label = (i) => ({ query: `${i}` });

const apply = (context, fn) => {
  const outer = current;
  setContext(context);
  try {
    return fn();
  } finally {
    setContext(outer);
  }
};

const inPairs = {
  note: isReused ? 'the context is changed in place' : 'a pair of setContext()',
  start: (everyMs = EVERY_MS) => start(everyMs, false),
  label,
  apply,
  stop: () => weigh(time.stop(false, labelsOf)),
};

const withFrames = {
  note: 'runWithContext()',
  start: (everyMs = EVERY_MS) => start(everyMs, true),
  label,
  run: (context, fn) => time.runWithContext(context, fn),
  stop: inPairs.stop,
};

const storage = new AsyncLocalStorage();
const hook = createHook({ before: () => setContext(storage.getStore()) });

const withHooks = {
  note: `async_hooks and AsyncLocalStorage; ${inPairs.note}`,
  start: (everyMs = EVERY_MS) => {
    start(everyMs, false);
    hook.enable();
  },
  label,
  run: (context, fn) => apply(context, () => storage.run(context, fn)),
  // The storage keeps its own hooks until it is told, and the other side must not pay for them.
  stop: () => {
    hook.disable();
    storage.disable();
    return inPairs.stop();
  },
};

const following = hasFrames ? withFrames : withHooks;

const one = label(0);
const applyMany = (repeats) => {
  for (let i = 0; i < repeats; i++) apply(one, tiny);
};
const applyAny = (repeats) => {
  for (let i = 0; i < repeats; i++) apply(one, several[i & 3]);
};
const runMany = (repeats) => {
  for (let i = 0; i < repeats; i++) following.run(one, tiny);
};
const awaiting = (repeats) => following.run(one, () => awaitMany(repeats));

const profiling = (labeller) => ({ start: () => labeller.start(10), note: labeller.note });

const numbers = isReused ? LABELS.slice(0, 1) : LABELS;
const synchronous = [
  callCase('apply-register', 'on', applyMany, profiling(inPairs)),
  callCase('apply-register', 'on, any function', applyAny, profiling(inPairs)),
  callCase('apply-trampoline', 'on', applyMany, profiling(inPairs)),
  ...shareCases('sync', inPairs, numbers),
  ...unfollowedOverhead(inPairs),
];
const asynchronous = [
  callCase('apply-register', 'on, its run', runMany, profiling(following)),
  callCase('await-on', 'followed', awaiting, profiling(following)),
  ...shareCases('async', following, numbers),
  ...followedOverhead(following),
];

export const subject = isReused ? `${name}, reused` : name;
export const cases = isReused && hasFrames ? synchronous : [...synchronous, ...asynchronous];
