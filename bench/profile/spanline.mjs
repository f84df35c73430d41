// Subject: spanline, with the label register.
import { DynamicLabel, startProfile } from '../../packages/profile/dist/esm/index.js';
import { awaitMany, callCase, several, tiny } from './calls.mjs';
import { followedOverhead, profileOverhead, unfollowedOverhead } from './overhead.mjs';
import { shareCases } from './shares.mjs';
import { spanlineLabeller } from './spanline-labeller.mjs';

const EVERY_MS = 10;
const label = new DynamicLabel('query', 'q');

const apply = (repeats) => {
  for (let i = 0; i < repeats; i++) label.apply(tiny);
};
const applyAny = (repeats) => {
  for (let i = 0; i < repeats; i++) label.apply(several[i & 3]);
};
const awaiting = (repeats) => label.run(() => awaitMany(repeats));

const profiling = (options, note) => ({ start: () => startProfile({ everyMs: EVERY_MS, ...options }), note });

const followed = spanlineLabeller({ carrier: 'register' });
const unfollowed = spanlineLabeller({ carrier: 'register', continuations: false }, 'continuations: false');

export const subject = 'spanline';
export const cases = [
  callCase('apply-register', 'off', apply, { note: 'no profile is taken' }),
  callCase('apply-register', 'on', apply, profiling({ carrier: 'register' }, 'a profile of 10 ms is taken')),
  callCase('apply-register', 'off, any function', applyAny, { note: 'no profile is taken' }),
  callCase(
    'apply-register',
    'on, any function',
    applyAny,
    profiling({ carrier: 'register' }, 'a profile of 10 ms is taken'),
  ),
  callCase('apply-trampoline', 'on', apply, profiling({ carrier: 'trampoline' }, 'a profile of 10 ms is taken')),
  callCase('await-off', 'followed', awaiting, { note: 'no profile is taken' }),
  callCase('await-on', 'followed', awaiting, profiling({ carrier: 'register' }, 'promise hooks')),
  callCase(
    'await-on',
    'unfollowed',
    awaiting,
    profiling({ carrier: 'register', continuations: false }, unfollowed.note),
  ),
  ...shareCases('sync', followed),
  ...shareCases('async', followed),
  ...followedOverhead(followed),
  ...unfollowedOverhead(unfollowed),
  ...profileOverhead(spanlineLabeller({ carrier: 'register' }, 'labels on both sides')),
];
