// Names of spans are interned in a table of the thread, which has an end. A file that needs room in it, or fills it, begins with an empty one and
// leaves it as it was: all unit files of a worker share it.
import { afterAll, beforeAll } from 'vitest';
import { state } from '../../src/context/process-state.js';
import { internName } from '../../src/rows/row-text.js';

const { numbers, texts } = state.names;
const read = state.readNames;

/** The names of this thread begin anew, those that it has read too. Nothing may have rows that were not reported. */
export const forgetNames = (): void => {
  texts.length = 1;
  numbers.clear();
  read.texts.length = 0;
  read.numbers.clear();
  // The table remembers the last name beside it, by which a name that it has forgotten would be found: each beginning has another.
  internName(`beginning ${process.hrtime.bigint()}`);
};

/** For the tests of this file the table has room for all names, and afterwards has those of before. */
export const useOwnNames = (): void => {
  let before: readonly [name: string, number: number][];
  let readBefore: readonly [texts: readonly string[], numbers: readonly [name: string, number: number][]];
  beforeAll(() => {
    before = [...numbers];
    readBefore = [[...read.texts], [...read.numbers]];
    forgetNames();
  });
  afterAll(() => {
    forgetNames();
    texts.length = 1;
    numbers.clear();
    for (const [name, number] of before) {
      texts[number] = name;
      numbers.set(name, number);
    }
    for (const text of readBefore[0]) read.texts.push(text);
    for (const [name, number] of readBefore[1]) read.numbers.set(name, number);
  });
};
