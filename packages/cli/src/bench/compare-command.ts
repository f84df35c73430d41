// `spanline bench compare`: what changed between two commits whose results were kept. It measures nothing: whoever wants to be sure gates. A word for
// a commit must never pick one of several that begin alike.

import { loadStatistics } from '@spanline/tracedb';
import { type ComparedPoint, comparePoints, gitCommit, type KeptSeries, seriesLabel } from '@spanline/tracedb/internal';
import type { Command } from 'commander';
import { ExitCode, endWith, notFound, wrongUsage } from '../exit-code.js';
import { share } from '../options.js';
import { columns, printAnswer } from '../output.js';
import { type KeptOptions, readKept, withKept } from './kept.js';

/** The hash that begins with the word, else the commit that git has under that name, such as `HEAD` or `main`. */
const keptCommit = async (series: readonly KeptSeries[], name: string): Promise<string> => {
  const hashes = [...new Set(series.flatMap(({ points }) => points.map(({ hash }) => hash)))];
  if (hashes.includes(name)) return name;
  const beginning = hashes.filter((hash) => hash.startsWith(name));
  if (beginning.length === 1) return beginning[0];
  if (beginning.length > 1)
    throw wrongUsage(`${beginning.length} measured commits begin with ${name}; write more of it`);
  const named = await gitCommit(process.cwd(), name).catch(() => undefined);
  const found = hashes.find((hash) => named?.hash.startsWith(hash));
  if (found !== undefined) return found;
  const newest = hashes.slice(-3).map((hash) => hash.slice(0, 10));
  throw notFound(
    hashes.length === 0
      ? 'no results are kept there; spanline bench run keeps some'
      : `no results are kept for ${name}${named === undefined ? '' : ` (${named.hash.slice(0, 10)})`}; there are some for ${newest.join(', ')}`,
  );
};

interface CompareOptions extends KeptOptions {
  readonly minEffect: number;
  readonly alpha: number;
  readonly all?: boolean;
}

const number = (value: number): string => String(Number(value.toPrecision(5)));
const percent = (change: number): string => `${change >= 0 ? '+' : ''}${(change * 100).toFixed(1)} %`;

const row = (one: ComparedPoint): string[] => [
  seriesLabel(one),
  number(one.before),
  number(one.after),
  one.unit,
  percent(one.change),
  one.pValue === undefined ? '' : one.pValue.toPrecision(2),
  one.verdict,
];

const compare = async (beforeName: string, afterName: string, options: CompareOptions): Promise<void> => {
  const { series, directions } = await readKept(options, true);
  const before = await keptCommit(series, beforeName);
  const after = await keptCommit(series, afterName);
  const { minEffect, alpha } = options;
  const compared = comparePoints(series, before, after, { minEffect, alpha, directions }, await loadStatistics());
  const shown = options.all ? compared : compared.filter(({ verdict }) => verdict !== 'same');
  const [worse, unsure] = ['worse', 'unsure'].map((name) => compared.filter(({ verdict }) => verdict === name).length);
  const table = columns(['series', 'before', 'after', 'unit', 'change', 'p', ''], shown.map(row), 'lrrlrrl');
  const text = `${table}${compared.length} series at both commits, ${worse} worse, ${unsure} unsure\n`;
  printAnswer(options.json, { before, after, minEffect, alpha, worse, unsure, series: shown }, text);
  // Two commits without a series in common compare nothing: no reason to call them fine.
  if (worse > 0 || compared.length === 0) endWith(ExitCode.findings);
};

/** Register the command. */
export const register = (bench: Command): void => {
  withKept(bench.command('compare <before> <after>'))
    .description(
      'what changed between two commits whose results were kept: the beginnings of their hashes, or names that git knows',
    )
    .option('--min-effect <share>', 'smallest relative change that counts, such as 5%', share, 0.05)
    .option(
      '--alpha <share>',
      'largest chance of calling anything changed when nothing is, over all series',
      share,
      0.05,
    )
    .option('--all', 'list unchanged series too')
    .addHelpText(
      'after',
      `
p is that of the test of Mann and Whitney on the samples that were kept. A change that they do not show is "unsure"; where none were kept its
size decides alone.

Examples:
  $ spanline bench compare -f bench/history.jsonl HEAD~1 HEAD
  $ spanline bench compare -s ./perf 5ce32c0 9122561 --min-effect 10%

Exit codes: 0 nothing is worse, 1 something is, or there is no such commit or nothing in common, 2 wrong usage, 3 the file or store failed.`,
    )
    .action(compare);
};
