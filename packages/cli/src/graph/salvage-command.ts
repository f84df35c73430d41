// `spanline graph salvage`: writes what can be read of a damaged file to a new one. The damaged file stays as it is.

import { salvage } from '@spanline/graph';
import type { Command } from 'commander';
import { ExitCode, endWith } from '../exit-code.js';
import { writeOut } from '../output.js';
import { damageJson, damageText, runGraphCommand } from './graph-session.js';

interface SalvageCommandOptions {
  readonly output: string;
  readonly keepIncomplete?: boolean;
  readonly json?: boolean;
}

/** Register the command. */
export const register = (graph: Command): void => {
  graph
    .command('salvage <file>')
    .description('write what can be read of a damaged file to a new one, and list what is lost')
    .requiredOption('-o, --output <file>', 'the new file')
    .option('--keep-incomplete', 'keep nodes whose references or values are lost, with none')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Nodes that are lost and referred to are absent nodes of the new file. A key that is lost has a placeholder, ?lost-GRAPH-ORDINAL.

Examples:
  $ spanline graph salvage damaged.graph -o salvaged.graph
  $ spanline graph salvage damaged.graph -o salvaged.graph --json | jq '.graphs[0].lost'

Exit codes: 0 nothing was lost, 1 salvaged with losses, or nothing is left to salvage, 2 wrong usage, 3 a file cannot be read or written.`,
    )
    .action((path: string, { output, keepIncomplete, json }: SalvageCommandOptions) =>
      runGraphCommand(async () => {
        const report = await salvage(path, output, { incomplete: keepIncomplete ? 'keep' : 'drop' });
        await writeOut(
          json ? `${damageJson(report)}\n` : `${damageText(report)}wrote ${output}: ${report.built?.bytes} bytes\n`,
        );
        if (!report.isUndamaged) endWith(ExitCode.findings);
      }),
    );
};
