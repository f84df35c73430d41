// `spanline profile top`: who used the CPU, as a table.

import { type LabelShare, labelKeys, type TopTable, top, WHOLE_LABEL } from '@spanline/profile';
import type { Command } from 'commander';
import { wholeNumber } from '../options.js';
import { columns, note, printAnswer } from '../output.js';
import { readProfileFile, sampleTypeOption } from './profile-files.js';
import { milliseconds, nameOf, percent, plusMinus } from './profile-text.js';

interface TopCommandOptions {
  readonly by: string;
  readonly limit: number;
  readonly sampleType?: string;
  readonly json?: boolean;
}

const row = ({ value, rank, share, low, high, cpuNs, stderrNs, samples }: LabelShare): string[] => [
  String(rank),
  nameOf(value),
  percent(share),
  `${percent(low)} - ${percent(high)}`,
  milliseconds(cpuNs),
  plusMinus(stderrNs),
  String(samples),
];

/** Keys listed for a user who asks for a missing one. */
const MAX_KEYS = 20;

const text = (table: TopTable): string => {
  const { rows, omitted, cpuNs, samples, gcNs, durationNs, unit, measure } = table;
  const head = ['rank', nameOf(table.by), 'share', '95 % interval', nameOf(measure ?? 'cpu'), 'error', 'samples'];
  const more = omitted === 0 ? '' : `, ${omitted} more rows (--limit)`;
  const measured = unit === 'cpu' ? 'measured' : 'estimated from samples';
  return (
    columns(head, rows.map(row), 'rlrrrrr') +
    `${milliseconds(cpuNs)} of ${measure === undefined ? 'CPU time' : `${nameOf(measure)}, no CPU time,`} (${measured}) in ${samples} samples over ${milliseconds(durationNs)}; ` +
    `garbage collection ${milliseconds(gcNs)}${more}\n`
  );
};

/** Register the command. */
export const register = (profile: Command): void => {
  profile
    .command('top <file>')
    .description('CPU by label: share with its 95 % confidence interval, CPU time, samples')
    .option('--by <key>', `label key, such as query; "${WHOLE_LABEL}" is all labels of a sample together`, WHOLE_LABEL)
    .option('--limit <rows>', 'rows at most', wholeNumber(1), 30)
    .addOption(sampleTypeOption())
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The file is pprof, .cpuprofile or folded stacks; - reads standard input. Labels of one rank are within noise of each other.

Examples:
  $ spanline profile top cpu.pb.gz --by query
  $ spanline profile top cpu.pb.gz --by tenant --limit 10 --json

Exit codes: 0 done, 2 wrong usage, 3 the file cannot be read.`,
    )
    .action(async (file: string, { by, limit, sampleType, json }: TopCommandOptions) => {
      const read = await readProfileFile(file, { sampleType });
      const table = top(read, { by, limit });
      const keys = labelKeys(read);
      printAnswer(json, { ...table, keys }, text(table));
      if (!json && by !== WHOLE_LABEL && !keys.includes(by)) {
        const some = keys.slice(0, MAX_KEYS).map(nameOf).join(', ') || 'none';
        note(`no sample has the label ${nameOf(by)}; there are: ${some}${keys.length > MAX_KEYS ? ', ...' : ''}`);
      }
    });
};
