// `spanline perf config validate`: every problem of a config file at once.

import { readFile } from 'node:fs/promises';
import { configProblems } from '@spanline/tracedb';
import type { Command } from 'commander';
import { escapeText } from 'spanline/internal/base';
import { CommandError, ExitCode, endWith, unreadable } from '../exit-code.js';
import { printAnswer } from './perf-options.js';

const readDocument = async (file: string): Promise<unknown> => {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    throw unreadable(file, cause);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new CommandError(
      'ERR_SPANLINE_INVALID_INPUT',
      `${file} is not JSON: ${(cause as Error).message}`,
      ExitCode.findings,
      { cause },
    );
  }
};

/** Register the command. */
export const register = (perf: Command): void => {
  const config = perf
    .command('config')
    .description('the config file of an instance')
    .addHelpText('after', '\nExamples:\n  $ spanline perf config validate spanline-perf.json');
  config
    .command('validate <file>')
    .description('check a config file and print every problem with its path')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
A config file: { "store": "./perf", "tileSize": 256, "directions": { "score": "up" },
                 "detection": { "detector": "e-divisive", "minimumEffect": 0.03 } }

Examples:
  $ spanline perf config validate spanline-perf.json

Exit codes: 0 good, 1 problems, 3 the file cannot be read.`,
    )
    .action(async (file: string, options: { readonly json?: boolean }) => {
      const problems = await configProblems(await readDocument(file));
      const lines = problems.map(({ path, reason }) => `${file}: ${escapeText(`${path || '/'} ${reason}`)}\n`);
      const text = problems.length === 0 ? `${file}: good\n` : lines.join('');
      printAnswer(options.json, { file, valid: problems.length === 0, problems }, text);
      if (problems.length > 0) endWith(ExitCode.findings);
    });
};
