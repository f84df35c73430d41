// A number of a table as a symbol: the first 255 have one each; a number beyond, or a thing that is in no table, takes the last symbol
// and is told in full beside.
import type { ByteReader } from '../../../base/bytes/byte-reader.js';
import type { ByteWriter } from '../../../base/bytes/byte-writer.js';

/** The symbol of what is told beside. */
export const BESIDE = 255;

export const tableSymbol = (number: number, tableLength: number): number =>
  number < tableLength && number < BESIDE ? number : BESIDE;

/** Tell what symbol `BESIDE` stands for; `inline` writes what is in no table. */
export const writeBeside = (side: ByteWriter, number: number, tableLength: number, inline: () => void): void => {
  if (number >= BESIDE && number < tableLength) side.varint(number - BESIDE + 1);
  else {
    side.varint(0);
    inline();
  }
};

/** The number told beside, -1 when the thing itself follows. */
export const readBeside = (side: ByteReader, tableLength: number): number => {
  const told = side.varint();
  if (told === 0) return -1;
  const number = told - 1 + BESIDE;
  if (number >= tableLength) throw side.corrupt('names an entry of a table that does not exist');
  return number;
};
