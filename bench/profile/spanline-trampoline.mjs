// Subject: spanline without its addon: labels travel as frames on the stack.
import { followedOverhead } from './overhead.mjs';
import { LABELS, shareCases } from './shares.mjs';
import { spanlineLabeller } from './spanline-labeller.mjs';

const labeller = spanlineLabeller({ carrier: 'trampoline' }, 'trampolines, as without the addon');
const some = LABELS.slice(0, 1);

export const subject = 'spanline-trampoline';
export const cases = [
  ...shareCases('sync', labeller, some),
  ...shareCases('async', labeller, some),
  ...followedOverhead(labeller),
];
