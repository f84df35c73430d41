// Subject: AsyncLocalStorage, which keeps a label for who reads it, and is not a profiler: run(), and one reading of the label.
import { AsyncLocalStorage } from 'node:async_hooks';
import { awaitMany, callCase, tiny } from './calls.mjs';

const storage = new AsyncLocalStorage();
const label = { query: 'q' };

const body = () => {
  if (storage.getStore() !== label) throw new Error('the label is lost');
  tiny();
};
const apply = (repeats) => {
  for (let i = 0; i < repeats; i++) storage.run(label, body);
};

export const subject = 'als';
export const cases = [
  callCase('apply-register', 'off', apply, { note: 'run() and getStore()' }),
  callCase('await-off', 'followed', (repeats) => storage.run(label, () => awaitMany(repeats)), {
    note: 'inside run()',
  }),
];
