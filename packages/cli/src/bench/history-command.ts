// `spanline bench history`: how the figures that were kept went over the commits, as a table or drawn. Every series must be drawn from values of one
// machine and one line of Node.

import { type KeptSeries, seriesLabel } from '@spanline/tracedb/internal';
import type { Command } from 'commander';
import { notFound } from '../exit-code.js';
import { wholeNumber } from '../options.js';
import { columns, note, printAnswer, terminalWidth } from '../output.js';
import { trendText } from '../trend.js';
import { type KeptOptions, readKept, withKept } from './kept.js';

interface HistoryOptions extends KeptOptions {
  readonly last?: number;
}

/** Plots that a screen has room for, about. */
const MAX_DRAWN = 6;

const number = (value: number): string => String(Number(value.toPrecision(5)));

const row = (series: KeptSeries): string[] => {
  const values = series.points.map(({ value }) => value);
  const [first] = values;
  const last = values[values.length - 1];
  const change = ((last - first) / Math.abs(first)) * 100;
  const shown = Number.isFinite(change) ? `${change >= 0 ? '+' : ''}${change.toFixed(1)} %` : '';
  return [seriesLabel(series), String(values.length), number(first), number(last), series.unit, shown];
};

const drawn = (series: KeptSeries): Promise<string> => {
  const { points, unit } = series;
  const trend = {
    key: `${seriesLabel(series)}, ${unit}`,
    commits: points,
    values: points.map(({ value }) => value),
  };
  return trendText(trend, terminalWidth());
};

const history = async (figure: string | undefined, { last, ...options }: HistoryOptions): Promise<void> => {
  const { series } = await readKept(options, false);
  const chosen = series
    .filter((one) => figure === undefined || seriesLabel(one).includes(figure))
    .map((one) => ({ ...one, points: last === undefined ? one.points : one.points.slice(-last) }))
    .filter(({ points }) => points.length > 0);
  if (chosen.length === 0) {
    throw notFound(
      figure === undefined ? 'no results are kept there' : `no figure kept there has ${figure} in its name`,
    );
  }
  const table = columns(['series', 'commits', 'first', 'last', 'unit', 'change'], chosen.map(row), 'lrrrlr');
  if (figure === undefined || options.json) {
    printAnswer(options.json, { series: chosen }, table);
    return;
  }
  const plots: string[] = [];
  for (const one of chosen.slice(0, MAX_DRAWN)) plots.push(await drawn(one));
  process.stdout.write(`${plots.join('\n')}\n${table}`);
  if (chosen.length > MAX_DRAWN) note(`${chosen.length} series have ${figure} in their names; ${MAX_DRAWN} are drawn`);
};

/** Register the command. */
export const register = (bench: Command): void => {
  withKept(bench.command('history [figure]'))
    .description(
      'how figures that were kept went over the commits: all as a table, or those with this in their names drawn',
    )
    .option('-n, --last <commits>', 'only the newest so many of a series', wholeNumber(1))
    .addHelpText(
      'after',
      `
Examples:
  $ spanline bench history -f bench/history.jsonl
  $ spanline bench history -f bench/history.jsonl 'local-span 100' --last 50
  $ spanline bench history -s ./perf encode

Exit codes: 0 done, 1 there is no such figure, 2 wrong usage, 3 the file or store failed.`,
    )
    .action(history);
};
