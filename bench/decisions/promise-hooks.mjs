// Question: what do promise hooks cost an await before they do anything, and what do a label and a span cost while a profile is taken?
// Answer: 27 to 32 ns an await (hooks that keep a label: 50), 0.3 us a label, and at the least 30 to 40 ns a `span.run`. So labels bring
// hooks only when they need them, and a span makes no text (node bench/decisions/promise-hooks.mjs; after npm run build).
import { promiseHooks } from 'node:v8';
import { Span } from '../../dist/esm/index.js';
import { DynamicLabel, startProfile } from '../../packages/profile/dist/esm/index.js';

const ROUNDS = 200;
const REPEATS = 10_000;
const NS_PER_MS = 1e6;

const measure = async (name, body) => {
  const samples = [];
  for (let round = 0; round < ROUNDS; round++) {
    const since = performance.now();
    await body();
    samples.push(((performance.now() - since) * NS_PER_MS) / REPEATS);
  }
  samples.sort((a, b) => a - b);
  console.log(`${name}: min ${samples[0].toFixed(1)}, median ${samples[ROUNDS / 2].toFixed(1)} ns`);
};

const awaitMany = async () => {
  for (let i = 0; i < REPEATS; i++) await undefined;
};
const makeLabels = () => {
  for (let i = 0; i < REPEATS; i++) new DynamicLabel('query', i % 2 === 0 ? 'q0' : 'q1');
};
const runSpans = () => {
  const root = Span.root('root');
  root.run(() => {
    for (let i = 0; i < REPEATS; i++) {
      const span = Span.start('child', root);
      span.run(() => undefined);
      span.end();
    }
  });
  root.end();
};

console.log(`Node ${process.versions.node}`);
await measure('await', awaitMany);
const removeHooks = promiseHooks.createHook({ init: () => {}, before: () => {}, after: () => {} });
await measure('await, empty hooks', awaitMany);
removeHooks();
await measure('a label', makeLabels);
await measure('a span that is run', runSpans);
const running = await startProfile({ everyMs: 10 });
await measure('a span that is run, under profile', runSpans);
running.stop();
