// Subject: nothing is traced. What every other subject is measured above.
import { casesOf } from './cases.mjs';

export const tracer = {
  root: (_name, _target, fn) => fn(),
  async: (_name, fn) => fn(),
  local: (_name, fn) => fn(),
  localOfThree: (_name, fn) => fn(),
};

export const subject = 'none';
export const cases = casesOf(tracer);
