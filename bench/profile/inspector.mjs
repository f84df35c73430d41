// Subject: V8's profiler alone, through node:inspector, without labels.
import { Session } from 'node:inspector/promises';
import { unlabelledOverhead } from './overhead.mjs';

const US_PER_MS = 1000;
const session = new Session();
session.connect();

const labeller = {
  note: 'no labels',
  start: async (everyMs) => {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: everyMs * US_PER_MS });
    await session.post('Profiler.start');
  },
  label: () => undefined,
  stop: () => session.post('Profiler.stop'),
};

export const subject = 'inspector';
export const cases = unlabelledOverhead(labeller);
