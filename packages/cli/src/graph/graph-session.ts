// What the commands on graph files have in common: the file they open, Ctrl-C, how a failure ends the command, and what is damaged in a file, for
// people. Programs are given the damage as data.
import { CompactGraph, CorruptError, type SalvageReport, TruncatedError } from '@spanline/graph';
import { CommandError, ExitCode, interruptible } from '../exit-code.js';
import { columns } from '../output.js';

/** Run a command: Ctrl-C ends it, and what is wrong with the file itself is a finding. */
export const runGraphCommand = (work: (signal: AbortSignal) => Promise<void>): Promise<void> =>
  interruptible(async (signal) => {
    try {
      await work(signal);
    } catch (error) {
      if (!(error instanceof CorruptError || error instanceof TruncatedError)) throw error;
      throw new CommandError(error.code, error.message, ExitCode.findings, { cause: error });
    }
  });

/** Open a path or an address, run `work`, close it. */
export const withGraph = (
  source: string,
  work: (file: CompactGraph, signal: AbortSignal) => Promise<void>,
): Promise<void> =>
  runGraphCommand(async (signal) => {
    const file = await CompactGraph.open(source, { signal });
    try {
      await work(file, signal);
    } finally {
      await file.close();
    }
  });

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
