// What is damaged in a file, and what that costs, for people. Programs are given the same as data.
import type { SalvageReport } from '@spanline/graph';
import { columns } from '../columns.js';

/** Lines about one thing at most; programs get all. */
const MAX_LINES = 50;

const shortened = (lines: readonly string[]): string => {
  const more = lines.length > MAX_LINES ? [`... and ${lines.length - MAX_LINES} more`] : [];
  return [...lines.slice(0, MAX_LINES), ...more].map((line) => `${line}\n`).join('');
};

/** The damaged places, and for each graph what is left of it. */
export const damageText = ({
  path,
  bytes,
  damage,
  keyCount,
  lostKeys,
  graphs,
  lostSections,
}: SalvageReport): string => {
  if (damage.length === 0) return `${path}: ${bytes} bytes, ${keyCount} keys, undamaged\n`;
  const lost = lostKeys.reduce((sum, { count }) => sum + count, 0);
  const head = `${path}: ${bytes} bytes, ${damage.length} ${damage.length === 1 ? 'place is' : 'places are'} damaged, ${lost} of ${keyCount} keys are lost\n`;
  const rows = graphs.map(({ nodeCount, keptNodes, incompleteNodes, placeholders }, graph) => [
    `${graph}`,
    `${nodeCount}`,
    `${keptNodes}`,
    `${nodeCount - keptNodes}`,
    `${incompleteNodes}`,
    `${placeholders}`,
  ]);
  const table = columns(['graph', 'nodes', 'kept', 'lost', 'incomplete', 'placeholders'], rows, 'rrrrrr');
  const sections = lostSections.map(
    ({ id, graph }) => `section ${id}${graph === undefined ? '' : ` of graph ${graph}`} is lost`,
  );
  return `${head}${shortened(damage.map(({ message }) => `  ${message}`))}${shortened(sections)}\n${table}`;
};

/** The same for programs: keys as hexadecimal digits. */
export const damageJson = (report: SalvageReport): string =>
  JSON.stringify(
    report,
    // Buffers turn into objects before a replacer is asked about them.
    (_, value: unknown) =>
      typeof value === 'object' && value !== null && (value as { type?: unknown }).type === 'Buffer'
        ? Buffer.from((value as { data: number[] }).data).toString('hex')
        : value,
    2,
  );
