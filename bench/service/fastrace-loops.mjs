// Subject: fastrace with loops of the recording suite, to a reporter that counts. What it loses under load stands in the note of its row.
import { FASTRACE, startFastrace } from './fastrace-program.mjs';

const round = startFastrace('record');

const loop = (name, n) => {
  let lost = 0;
  let spans = 0;
  const test = {
    name,
    n,
    async measure({ warmUpMs, roundMs }) {
      const figures = await round(`loop ${name} ${n} ${warmUpMs} ${roundMs}`);
      lost += figures.lost;
      spans += figures.spans;
      test.note = `${lost} of ${spans} spans never arrived`;
      return figures;
    },
  };
  return test;
};

export const subject = FASTRACE;
export const cases = [
  loop('local-span', 1),
  loop('local-span', 100),
  loop('local-span-1-property', 100),
  loop('event', 100),
  loop('span', 100),
  loop('async-span', 100),
  loop('root-1', 1),
];
