// `spanline graph verify`: reads every byte of a file and checks it. It changes nothing.

import { Segment } from '@spanline/archive';
import { type CorruptError, type Damage, GraphError, type SalvageReport, salvage } from '@spanline/graph';
import type { Command } from 'commander';
import { ExitCode, endWith } from '../exit-code.js';
import { writeOut } from '../output.js';
import { damageJson, damageText, runGraphCommand } from './graph-session.js';

/** Sections of a user of the file have checksums that only the user knows: the archive is one. */
const withSegment = async (report: SalvageReport): Promise<SalvageReport> => {
  if (!report.isUndamaged || report.unchecked.length === 0) return report;
  const damage: Damage[] = [];
  try {
    const segment = await Segment.open(report.path);
    try {
      for (const fault of await segment.faults()) {
        const { section = 'segment', block } = fault as Partial<CorruptError>;
        damage.push({ section, ...(block === undefined ? {} : { block }), message: fault.message });
      }
    } finally {
      await segment.close();
    }
  } catch (error) {
    if (!(error instanceof GraphError)) throw error;
    damage.push({ section: 'segment', message: `${error.message}: nobody can check all of the file` });
  }
  return { ...report, damage, isUndamaged: damage.length === 0 };
};

/** Register the command. */
export const register = (graph: Command): void => {
  graph
    .command('verify <file>')
    .description('read all of a file, check it, and list what is damaged')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Every byte is checked, and what the file says of itself is counted; of a segment of an archive its columns too.

Examples:
  $ spanline graph verify commits.graph

Exit codes: 0 undamaged, 1 damaged, 2 wrong usage, 3 the file cannot be read or is not a graph file.`,
    )
    .action((path: string, { json }: { readonly json?: boolean }) =>
      runGraphCommand(async () => {
        const report = await withSegment(await salvage(path));
        await writeOut(json ? `${damageJson(report)}\n` : damageText(report));
        if (!report.isUndamaged) endWith(ExitCode.findings);
      }),
    );
};
