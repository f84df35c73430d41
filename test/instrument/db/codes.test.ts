// What counts as a code that a server gave with an error: no word of the system or of a driver does.
import { expect, test } from 'vitest';
import { errorNumber, sqlState } from '../../../src/instrument/db/database.js';

test.each([
  [{ errno: 1054, code: 'ER_BAD_FIELD_ERROR' }, '1054'],
  [{ errno: -111, code: 'ECONNREFUSED' }, undefined],
  [{ errno: 'ETIMEDOUT' }, undefined],
  [{ errno: 45_000 }, undefined],
  [new Error('lost'), undefined],
  [undefined, undefined],
])('number of %j: %s', (error, number) => {
  expect(errorNumber(45_000)(error)).toBe(number);
});

test.each([
  [{ code: '22P02' }, '22P02'],
  [{ code: 'XX000' }, 'XX000'],
  [{ code: 'ECONNRESET' }, undefined],
  [{ code: 'EPIPE' }, undefined],
  [{ code: 22012 }, undefined],
  [undefined, undefined],
])('state of %j: %s', (error, state) => {
  expect(sqlState(error)).toBe(state);
});
