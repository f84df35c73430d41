// What a sampler or `keep` answered. It is asked on the recording path, where a wrong answer is counted, never thrown.
import { types } from 'node:util';
import { wrongArgument } from '../local-span/misuse.js';

const REMEDY = {
  sampler: 'A sampler gave something else than true or false: it is asked when a root starts and cannot be async.',
  keep: 'keep gave something else than true or false: it is asked when a trace is reported and cannot be async.',
} as const;

/** The answer; undefined when it is a promise, which comes too late. */
export const decision = (of: keyof typeof REMEDY, answer: unknown): unknown => {
  if (typeof answer === 'boolean') return answer;
  wrongArgument(REMEDY[of]);
  if (!types.isPromise(answer)) return answer;
  // Nobody else has this promise.
  answer.catch(() => {});
  return undefined;
};
