// `spanline perf regressions`: the lasting changes of the histories a query selects, with commit, size and significance.

import { readSeries } from '@spanline/tracedb';
import { type Command, Option } from 'commander';
import { ExitCode, endWith, wrongUsage } from '../exit-code.js';
import { realNumber, share, wholeNumber } from '../options.js';
import { columns, terminalWidth } from '../output.js';
import { trendText } from '../trend.js';
import {
  DETECTORS,
  type DetectionOptions,
  detect,
  detectionOf,
  type Found,
  INTERESTING,
  MEASURE,
} from './detection.js';
import { printAnswer, type StoreOptions, withPerf, withStore } from './perf-options.js';
import { noteNothingInNewest } from './selected-traces.js';

interface RegressionsOptions extends StoreOptions, DetectionOptions {
  readonly query: string;
  readonly from?: string;
  readonly to?: string;
  readonly only?: string;
  readonly plot?: boolean;
}

const number = (value: number): string => String(Number(value.toPrecision(6)));

const row = (found: Found): string[] => [
  found.kind,
  found.commit.hash.slice(0, 10),
  found.commit.timestampMs > 0 ? new Date(found.commit.timestampMs).toISOString().slice(0, 10) : '',
  `${found.change >= 0 ? '+' : ''}${(found.change * 100).toFixed(1)} %`,
  number(found.before),
  number(found.after),
  'pValue' in found ? found.pValue.toExponential(1) : number(Math.abs(found.regression)),
  found.key,
];

/** Register the command. */
export const register = (perf: Command): void => {
  withStore(perf.command('regressions'))
    .description('find the commits at which series changed for good')
    .option('-q, --query <query>', 'only the series this selects', '')
    .addOption(new Option('--detector <name>', 'how changes are found (default e-divisive)').choices(DETECTORS))
    .option(
      '--interesting <number>',
      'from which size on a step counts, for all detectors but e-divisive; see below',
      realNumber(0),
    )
    .option('--radius <values>', 'values on each side of a step (default 10); not for e-divisive', wholeNumber(1, 500))
    .option(
      '--min-effect <share>',
      'smallest relative change (e-divisive: of the smaller level, 2% unless given)',
      share,
    )
    .option('--false-positive-rate <share>', 'chance that shuffled data shows anything, e-divisive (default 5%)', share)
    .option('--from <commit>', 'first commit')
    .option('--to <commit>', 'last commit')
    .addOption(
      new Option('--only <kind>', 'only changes of this kind').choices(['regression', 'improvement', 'changed']),
    )
    .option('--plot', 'draw the series with the largest change')
    .addHelpText(
      'after',
      `
What --interesting means:
${Object.entries(INTERESTING)
  .map(([name, meaning]) => `  ${name.padEnd(13)} ${meaning}`)
  .join('\n')}

Better or worse follows from the unit of a series (its param "unit" or "units"); its param "improvement_direction" goes before.
With an unknown unit a change is only "changed".

Examples:
  $ spanline perf regressions -s ./perf
  $ spanline perf regressions -s ./perf -q 'test=~span' --min-effect 10% --plot
  $ spanline perf regressions -s ./perf --detector cohen --interesting 2 --radius 15

Exit codes: 0 no regression, 1 regressions found, or no series meets the query, 2 wrong usage, 3 the store failed.`,
    )
    .action((options: RegressionsOptions) =>
      withPerf(options, async (session) => {
        const { perf: store, call } = session;
        const from = options.from === undefined ? undefined : (await store.commits.find(options.from, call)).number;
        const to = options.to === undefined ? undefined : (await store.commits.find(options.to, call)).number;
        if (from !== undefined && to !== undefined && from > to) {
          throw wrongUsage(
            `--from ${options.from} (commit ${from}) comes after --to ${options.to} (commit ${to}); name the older one first`,
          );
        }
        const detection = detectionOf(options, session.config?.detection);
        const directions = Object.fromEntries(session.config?.directions ?? []);
        const series = await readSeries(store, options.query, { ...call, from, to });
        const all = await detect(detection, series, directions);
        const found = options.only === undefined ? all : all.filter(({ kind }) => kind === options.only);
        const regressions = all.filter(({ kind }) => kind === 'regression').length;
        const head = ['kind', 'commit', 'date', 'change', 'before', 'after', MEASURE[detection.detector], 'series'];
        const table = columns(head, found.map(row), 'lllrrrrl');
        const text = `${table}${series.length} series, ${all.length} changes, ${regressions} regressions\n`;
        printAnswer(options.json, { series: series.length, regressions, found }, text);
        const largest = [...found].sort((a, b) => Math.abs(b.change) - Math.abs(a.change))[0];
        const drawn = series.find(({ key }) => key === largest?.key);
        if (options.plot && !options.json && drawn !== undefined) {
          process.stdout.write(`\n${await trendText(drawn, terminalWidth())}`);
        }
        if (regressions > 0) endWith(ExitCode.findings);
        // A mistyped query must not pass for a history without regressions.
        if (series.length === 0 && options.query !== '') await noteNothingInNewest(session, options.query);
      }),
    );
};
