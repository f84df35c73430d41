// All cells of a table as lines, so that two states of a store can be compared byte for byte.
import type { WideColumnTable } from '../../../src/table/wide-column-table.js';

/** `key family:qualifier bytes`, in the order of the table; bytes that are all printable are shown as text, others as `0x` hex. */
export const dump = async (table: WideColumnTable): Promise<string[]> => {
  const lines: string[] = [];
  for await (const rows of table.readRows({ prefix: '' })) {
    for (const { key, cells } of rows) {
      for (const { family, qualifier, value } of cells) {
        const bytes = Buffer.from(value);
        const isText = /^[\x20-\x7e]*$/.test(bytes.toString('latin1'));
        lines.push(`${key} ${family}:${qualifier} ${isText ? bytes.toString() : `0x${bytes.toString('hex')}`}`.trim());
      }
    }
  }
  return lines;
};

/** `dump` without the rows that say what the store is and which number is next: they tell how it was written, not what it holds. */
export const dumpOfData = async (table: WideColumnTable): Promise<string[]> =>
  (await dump(table)).filter((line) => !line.startsWith('!perf '));
