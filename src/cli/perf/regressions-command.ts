// `spanline perf regressions`: the lasting changes of the histories a query selects, with commit, size and significance.
import { type Command, Option } from 'commander';
import {
  findRegressions,
  findSteps,
  loadStatistics,
  optionalPackage,
  type PerfSeries,
  type Regression,
  readSeries,
  type Step,
} from '../../tracedb/index.js';
import { columns } from '../columns.js';
import { ExitCode } from '../exit-code.js';
import { realNumber, share, wholeNumber } from '../options.js';
import { terminalWidth } from '../terminal.js';
import { type PerfSession, printJson, type StoreOptions, withPerf, withStore } from './perf-options.js';
import { trendText } from './trend.js';

const DETECTORS = ['e-divisive', 'original', 'absolute', 'const', 'percent', 'cohen', 'mann-whitney'] as const;

interface RegressionsOptions extends StoreOptions {
  readonly query: string;
  readonly detector?: (typeof DETECTORS)[number];
  readonly interesting?: number;
  readonly radius?: number;
  readonly minEffect?: number;
  readonly falsePositiveRate?: number;
  readonly from?: string;
  readonly to?: string;
  readonly only?: string;
  readonly plot?: boolean;
}

type Found = Regression | Step;

const detect = async (
  { config }: PerfSession,
  series: readonly PerfSeries[],
  options: RegressionsOptions,
): Promise<Found[]> => {
  const statistics = await loadStatistics();
  const detection = config?.detection;
  const detector = options.detector ?? detection?.detector ?? 'e-divisive';
  const minEffect = options.minEffect ?? detection?.minimumEffect;
  const directions = Object.fromEntries(config?.directions ?? []);
  const histories = series.map((one) => ({
    key: one.key,
    unit: one.params.unit ?? '',
    commits: one.commits.map(({ number, hash, timestampMs = 0 }) => ({ number, hash, timestampMs })),
    values: one.values,
  }));
  if (detector === 'e-divisive') {
    const falsePositiveRate = options.falsePositiveRate ?? detection?.significance;
    return findRegressions(histories, { minEffect, directions, falsePositiveRate }, statistics);
  }
  const interesting = options.interesting ?? detection?.interesting ?? Number.NaN;
  const radius = options.radius ?? detection?.radius;
  return histories
    .flatMap((one) => findSteps(one, { detector, interesting, radius, minEffect, directions }, statistics))
    .sort((a, b) => a.commit.number - b.commit.number);
};

const number = (value: number): string => String(Number(value.toPrecision(6)));

const row = (found: Found): string[] => [
  found.kind,
  found.commit.hash.slice(0, 10),
  found.commit.timestampMs > 0 ? new Date(found.commit.timestampMs).toISOString().slice(0, 10) : '',
  `${found.change >= 0 ? '+' : ''}${(found.change * 100).toFixed(1)} %`,
  number(found.before),
  number(found.after),
  'pValue' in found ? found.pValue.toExponential(1) : number(found.regression),
  found.key,
];

/** Register the command. */
export const registerRegressions = (perf: Command): void => {
  withStore(perf.command('regressions'))
    .description('find the commits at which series changed for good')
    .option('-q, --query <query>', 'only the series this selects', '')
    .addOption(new Option('--detector <name>', 'how changes are found (default e-divisive)').choices(DETECTORS))
    .option(
      '--interesting <number>',
      'from which size on a step counts, for all detectors but e-divisive',
      realNumber(0),
    )
    .option('--radius <values>', 'values on each side of a step (default 10); not for e-divisive', wholeNumber(1, 500))
    .option('--min-effect <share>', 'smallest relative change (e-divisive: 2% unless given)', share)
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
Better or worse follows from the unit of a series (its param "unit"); with an unknown unit a change is only "changed".

Examples:
  $ spanline perf regressions -s ./perf
  $ spanline perf regressions -s ./perf -q 'test=~span' --min-effect 10% --plot
  $ spanline perf regressions -s ./perf --detector cohen --interesting 2 --radius 15

Exit codes: 0 no regression, 1 regressions found, 2 wrong usage, 3 the store failed.`,
    )
    .action((options: RegressionsOptions) =>
      withPerf(options, async (session) => {
        const { perf: store, call } = session;
        const from = options.from === undefined ? undefined : (await store.commits.find(options.from, call)).number;
        const to = options.to === undefined ? undefined : (await store.commits.find(options.to, call)).number;
        const series = await readSeries(store, options.query, { ...call, from, to });
        const all = await detect(session, series, options);
        const found = options.only === undefined ? all : all.filter(({ kind }) => kind === options.only);
        const regressions = all.filter(({ kind }) => kind === 'regression').length;
        if (options.json) printJson({ series: series.length, regressions, found });
        else {
          const head = ['kind', 'commit', 'date', 'change', 'before', 'after', 'significance', 'series'];
          const align = ['left', 'left', 'left', 'right', 'right', 'right', 'right', 'left'] as const;
          process.stdout.write(columns(head, found.map(row), align));
          process.stdout.write(`${series.length} series, ${all.length} changes, ${regressions} regressions\n`);
          const largest = [...found].sort((a, b) => Math.abs(b.change) - Math.abs(a.change))[0];
          const drawn = series.find(({ key }) => key === largest?.key);
          if (options.plot && drawn !== undefined) {
            const text = await optionalPackage('asciichart', '--plot', () => trendText(drawn, terminalWidth()));
            process.stdout.write(`\n${text}`);
          }
        }
        if (regressions > 0) process.exitCode = ExitCode.findings;
      }),
    );
};
