// `spanline profile diff`: which labels take more of the CPU than before, beyond noise.

import { diff, type LabelChange, WHOLE_LABEL } from '@spanline/profile';
import type { Command } from 'commander';
import { ExitCode, endWith } from '../exit-code.js';
import { share } from '../options.js';
import { columns, printAnswer } from '../output.js';
import { readProfileFile, sampleTypeOption } from './profile-files.js';
import { nameOf, percent, points } from './profile-text.js';

interface DiffCommandOptions {
  readonly by: string;
  readonly minEffect: number;
  readonly all?: boolean;
  readonly sampleType?: string;
  readonly json?: boolean;
}

const row = ({ value, before, after, change, low, high, pValue, verdict }: LabelChange): string[] => [
  nameOf(value),
  percent(before),
  percent(after),
  points(change),
  `${points(low)} to ${points(high)}`,
  pValue < 0.001 ? pValue.toExponential(1) : pValue.toFixed(3),
  verdict,
];

/** Register the command. */
export const register = (profile: Command): void => {
  profile
    .command('diff <before> <after>')
    .description('compare two profiles by label: whose share of the CPU changed beyond noise')
    .option('--by <key>', `label key, such as query; "${WHOLE_LABEL}" is all labels of a sample together`, WHOLE_LABEL)
    .option('--min-effect <share>', 'smallest change of a share that counts', share, 0.01)
    .option('--all', 'list unchanged labels too')
    .addOption(sampleTypeOption())
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Shares are compared, not times: the profiles may differ in length and load. p-values are corrected for the number of labels.

Examples:
  $ spanline profile diff before.pb.gz after.pb.gz --by query
  $ spanline profile diff monday.pb.gz today.pb.gz --by tenant --min-effect 5%

Exit codes: 0 no label takes more, 1 some do, 2 wrong usage, 3 a file cannot be read.`,
    )
    .action(async (beforeFile: string, afterFile: string, options: DiffCommandOptions) => {
      const { by, minEffect, all, sampleType, json } = options;
      const before = await readProfileFile(beforeFile, { sampleType });
      const after = await readProfileFile(afterFile, { sampleType });
      const changes = diff(before, after, { by, minEffect });
      const more = changes.filter(({ verdict }) => verdict === 'more').length;
      const shown = all ? changes : changes.filter(({ verdict }) => verdict !== 'same');
      const head = [nameOf(by), 'before', 'after', 'points', '95 % interval', 'p', 'verdict'];
      const table = columns(head, shown.map(row), 'lrrrrrl');
      const text = `${table}${changes.length} labels, ${shown.length} shown, ${more} take more\n`;
      printAnswer(json, { by, labels: changes.length, more, changes: shown }, text);
      if (more > 0) endWith(ExitCode.findings);
    });
};
