// `spanline graph verify`: reads every byte of a file and checks it. It changes nothing.
import type { Command } from 'commander';
import { salvage } from '../../graph/index.js';
import { ExitCode } from '../exit-code.js';
import { writeOut } from '../store-session.js';
import { damageJson, damageText } from './damage-report.js';
import { runGraphCommand } from './graph-session.js';

/** Register the command. */
export const registerVerify = (graph: Command): void => {
  graph
    .command('verify <file>')
    .description('read all of a file, check it, and list what is damaged')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ spanline graph verify commits.graph

Exit codes: 0 undamaged, 1 damaged, 2 wrong usage, 3 the file cannot be read or is no graph file.`,
    )
    .action((path: string, { json }: { readonly json?: boolean }) =>
      runGraphCommand(async () => {
        const report = await salvage(path);
        await writeOut(json ? `${damageJson(report)}\n` : damageText(report));
        if (!report.isUndamaged) process.exitCode = ExitCode.findings;
      }),
    );
};
