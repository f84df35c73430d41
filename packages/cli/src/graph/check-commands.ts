// `spanline graph verify` and `salvage`: reads every byte of a file and checks it, and writes what can be read of a damaged file to a new one. The
// file itself stays as it is. Programs are given the damage as data.

import { type CorruptError, type Damage, GraphError, type SalvageReport, salvage } from '@spanline/graph';
import { escapeText } from 'spanline/internal/base';
import { type Commands, command, REQUIRED } from '../command.js';
import { ExitCode, endWith } from '../exit-code.js';
import { JSON_OPTION } from '../options.js';
import { columns, writeOut } from '../output.js';
import { inSegment, runGraphCommand, withoutUnsorted } from './graph-session.js';

/** Lines about one thing at most; programs get all. */
const MAX_LINES = 50;

const shortened = (lines: readonly string[]): string => {
  const more = lines.length > MAX_LINES ? [`... and ${lines.length - MAX_LINES} more`] : [];
  return [...lines.slice(0, MAX_LINES), ...more].map((line) => `${escapeText(line)}\n`).join('');
};

/** The damaged places, and for each graph what is left of it. */
const damageText = ({ path, bytes, damage, keyCount, lostKeys, graphs, lostSections }: SalvageReport): string => {
  const name = escapeText(path);
  if (damage.length === 0) return `${name}: ${bytes} bytes, ${keyCount} keys, undamaged\n`;
  const lost = lostKeys.reduce((sum, { count }) => sum + count, 0);
  const head = `${name}: ${bytes} bytes, ${damage.length} ${damage.length === 1 ? 'place is' : 'places are'} damaged, ${lost} of ${keyCount} keys are lost\n`;
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

/** What is wrong with an unsorted segment. */
const unsortedText = (path: string, damage: readonly Damage[], json = false): string => {
  if (json) return `${JSON.stringify({ path, damage, isUndamaged: damage.length === 0 }, undefined, 2)}\n`;
  const name = escapeText(path);
  if (damage.length === 0) return `${name}: an unsorted segment, undamaged\n`;
  const head = `${name}: an unsorted segment, ${damage.length} ${damage.length === 1 ? 'place is' : 'places are'} damaged\n`;
  return `${head}${shortened(damage.map(({ message }) => `  ${message}`))}`;
};

/** The same for programs: keys as hexadecimal digits. */
const damageJson = (report: SalvageReport): string =>
  JSON.stringify(
    report,
    // Buffers turn into objects before a replacer is asked about them.
    (_, value: unknown) =>
      typeof value === 'object' && value !== null && (value as { type?: unknown }).type === 'Buffer'
        ? Buffer.from((value as { data: number[] }).data).toString('hex')
        : value,
    2,
  );

/** An unsorted segment of an archive has no graph: it alone can say what is damaged. Undefined for any other file. */
const unsortedDamage = (path: string): Promise<Damage[] | undefined> =>
  inSegment(path, async (segment) => (segment.isSorted ? undefined : damageOf(await segment.faults())));

const damageOf = (faults: readonly GraphError[]): Damage[] =>
  faults.map((fault) => {
    const { section = 'segment', block } = fault as Partial<CorruptError>;
    return { section, ...(block === undefined ? {} : { block }), message: fault.message };
  });

/** Sections of a user of the file have checksums that only the user knows: the archive is one. */
const withSegment = async (report: SalvageReport): Promise<SalvageReport> => {
  if (!report.isUndamaged || report.unchecked.length === 0) return report;
  const damage: Damage[] = [];
  try {
    const { Segment } = await import('@spanline/archive');
    const segment = await Segment.open(report.path);
    try {
      damage.push(...damageOf(await segment.faults()));
    } finally {
      await segment.close();
    }
  } catch (error) {
    if (!(error instanceof GraphError)) throw error;
    damage.push({ section: 'segment', message: `${error.message}: nobody can check all of the file` });
  }
  return { ...report, damage, isUndamaged: damage.length === 0 };
};

export const commands = {
  verify: command({
    words: '<file>',
    what: 'read all of a file, check it, and list what is damaged',
    options: { json: JSON_OPTION },
    help: `
Every byte is checked, and what the file says of itself is counted; of a segment of an archive its columns too.

Examples:
  $ spanline graph verify commits.graph

Exit codes: 0 undamaged, 1 damaged, 2 wrong usage, 3 the file cannot be read or is not a graph file.`,
    run: ({ json }, path: string) =>
      runGraphCommand(async () => {
        const unsorted = await unsortedDamage(path);
        if (unsorted !== undefined) {
          await writeOut(unsortedText(path, unsorted, json));
          if (unsorted.length > 0) endWith(ExitCode.findings);
          return;
        }
        const report = await withSegment(await salvage(path));
        await writeOut(json ? `${damageJson(report)}\n` : damageText(report));
        if (!report.isUndamaged) endWith(ExitCode.findings);
      }),
  }),

  salvage: command({
    words: '<file>',
    what: 'write what can be read of a damaged file to a new one, and list what is lost',
    options: {
      output: ['-o, --output <file>', 'the new file', undefined, REQUIRED],
      keepIncomplete: ['--keep-incomplete', 'keep nodes whose references or values are lost, with none'],
      json: JSON_OPTION,
    },
    help: `
Nodes that are lost and referred to are absent nodes of the new file. A key that is lost has a placeholder, ?lost-GRAPH-ORDINAL.

Examples:
  $ spanline graph salvage damaged.graph -o salvaged.graph
  $ spanline graph salvage damaged.graph -o salvaged.graph --json | jq '.graphs[0].lost'

Exit codes: 0 nothing was lost, 1 salvaged with losses, or nothing is left to salvage, 2 wrong usage, 3 a file cannot be read or written.`,
    run: ({ output, keepIncomplete, json }, path: string) =>
      runGraphCommand(async () => {
        const report = await withoutUnsorted(path, () =>
          salvage(path, output, { incomplete: keepIncomplete ? 'keep' : 'drop' }),
        );
        await writeOut(
          json
            ? `${damageJson(report)}\n`
            : `${damageText(report)}wrote ${escapeText(output)}: ${report.built?.bytes} bytes\n`,
        );
        if (!report.isUndamaged) endWith(ExitCode.findings);
      }),
  }),
} satisfies Commands;
