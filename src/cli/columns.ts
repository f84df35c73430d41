// Rows as aligned columns of text. It must never cut a cell: output of a table is also read by programs such as awk.

/** How a column is aligned. */
export type Align = 'left' | 'right';

// Control characters could move the cursor or colour the terminal; names come from files.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is replaced
const CONTROL = /[\x00-\x1f\x7f-\x9f]/g;

/** Text without control characters. */
export const printable = (text: string): string => text.replace(CONTROL, '\ufffd');

/** A table with a head; numbers belong in `right` columns. Ends in a line break; empty when there are no rows. */
export const columns = (
  head: readonly string[],
  rows: readonly (readonly string[])[],
  align: readonly Align[] = [],
): string => {
  if (rows.length === 0) return '';
  const all = [head, ...rows].map((row) => row.map(printable));
  const widths = head.map((_, i) => Math.max(...all.map((row) => (row[i] ?? '').length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => (align[i] === 'right' ? cell.padStart(widths[i]) : cell.padEnd(widths[i])))
      .join('  ')
      .trimEnd();
  return `${all.map(line).join('\n')}\n`;
};
