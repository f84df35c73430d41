// Subject: spanline switched off with SPANLINE_DISABLED=1, in a process of its own because the switch is read at load.
import { LocalSpan } from '../../dist/esm/index.js';
import { perSpan } from './shape.mjs';

const localSpans = (n) => {
  for (let i = 0; i < n; i++) LocalSpan.start('span').end();
};

export const subject = 'spanline';
export const cases = perSpan('disabled', localSpans, undefined, [100]);
