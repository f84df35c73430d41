// Rows as aligned columns of text. Must never truncate a cell: programs such as awk read the tables too.
import { displayWidth, escapeText } from 'spanline/internal/base';

/** A table with a head; columns are to the left, or where `align` says `r` at their place to the right, as numbers should be. Ends in a line break; empty when there are no rows. */
export const columns = (head: readonly string[], rows: readonly (readonly string[])[], align = ''): string => {
  if (rows.length === 0) return '';
  const all = [head, ...rows].map((row) => row.map(escapeText));
  const widths = head.map((_, i) => Math.max(...all.map((row) => displayWidth(row[i] ?? ''))));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => {
        const space = ' '.repeat(widths[i] - displayWidth(cell));
        return align[i] === 'r' ? space + cell : cell + space;
      })
      .join('  ')
      .trimEnd();
  return `${all.map(line).join('\n')}\n`;
};
