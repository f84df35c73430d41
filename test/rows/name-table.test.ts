// Names have numbers within bounds: those of the program in one table, those read from elsewhere in another, so that neither takes the other's places.
import { beforeEach, expect, test } from 'vitest';
import { internedName, internName, internReadName, MAX_NAMES, MAX_READ_NAMES } from '../../src/rows/row-text.js';
import { forgetNames, useOwnNames } from '../support/names.js';
import { counted } from '../support/recorder.js';

useOwnNames();
beforeEach(forgetNames);

test('names that are read take no place from those of the program, and each is found again', () => {
  const own = internName('own');
  expect(internReadName('own')).toBe(own);
  const read = Array.from({ length: 20_000 }, (_, i) => internReadName(`read ${i}`));
  expect(read.map(internedName)).toEqual(Array.from(read, (_, i) => `read ${i}`));
  expect(internReadName('read 7')).toBe(read[7]);
  // Two have places: the first above, and the one with which the table began.
  for (let i = 2; i < MAX_NAMES; i++) expect(internedName(internName(`name ${i}`))).toBe(`name ${i}`);
  expect(internName('one more')).toBe(0);
  expect(internedName(read[19_999])).toBe('read 19999');
});

test('beyond the bound a name that is read is left out, and counted', async () => {
  for (let i = 0; i < MAX_READ_NAMES; i++) internReadName(`read ${i}`);
  let number = 0;
  const changes = await counted(() => {
    number = internReadName('one more');
  });
  expect(changes).toEqual({ readNamesLeftOut: 1 });
  expect(internedName(number)).toBe('(a name too many)');
  expect(internedName(internReadName(`read ${MAX_READ_NAMES - 1}`))).toBe(`read ${MAX_READ_NAMES - 1}`);
});
