// Subject: no label and no profile.
import { awaitMany, callCase, several, tiny } from './calls.mjs';

const direct = (repeats) => {
  for (let i = 0; i < repeats; i++) tiny();
};
const directAny = (repeats) => {
  for (let i = 0; i < repeats; i++) several[i & 3]();
};

export const subject = 'bare';
export const cases = [
  callCase('apply-register', 'off', direct),
  callCase('apply-register', 'off, any function', directAny),
  callCase('await-off', 'followed', awaitMany),
];
