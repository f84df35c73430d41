// Subject: no label and no profile.
import { awaitMany, callCase, tiny } from './calls.mjs';

const direct = (repeats) => {
  for (let i = 0; i < repeats; i++) tiny();
};

export const subject = 'bare';
export const cases = [callCase('apply-register', 'off', direct), callCase('await-off', 'followed', awaitMany)];
