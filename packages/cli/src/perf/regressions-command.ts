// `spanline perf regressions`: the lasting changes of the histories a query selects, with commit, size and significance. Options of the command line
// go before those of the config file, each only where it means something: a setting must never be ignored without a word.

import {
  type DetectionConfig,
  type Direction,
  findRegressions,
  findSteps,
  loadStatistics,
  type PerfSeries,
  type Regression,
  readSeries,
  type Step,
  type StepDetectorName,
  type StepScanOptions,
} from '@spanline/tracedb';
import { historyOf } from '@spanline/tracedb/internal';
import { type Commands, command, options, type Values } from '../command.js';
import { ExitCode, endWith, wrongUsage } from '../exit-code.js';
import { realNumber, share, wholeNumber } from '../options.js';
import { columns, digits, printAnswer, signedPercent, terminalWidth, trendText } from '../output.js';
import { STORE, withPerf } from './perf-options.js';
import { noteNothingInNewest } from './selected-traces.js';

/** By the detector of steps: the head of the column with what it measured, and what --interesting means to it. */
const STEPS = {
  original: ['step/error', 'step over error of the fit, such as 25'],
  absolute: ['step', "a size in the values' unit"],
  const: ['value', "a limit in the values' unit"],
  percent: ['share', 'a share, such as 0.1 for 10 %'],
  cohen: ['deviations', 'deviations, such as 2'],
  'mann-whitney': ['p-value', 'the largest p-value, such as 0.01'],
} as const satisfies Readonly<Record<StepDetectorName, readonly [measure: string, interesting: string]>>;

const DETECTORS = ['e-divisive', ...(Object.keys(STEPS) as StepDetectorName[])] as const;

const REGRESSIONS = options({
  ...STORE,
  query: ['-q, --query <query>', 'only the series this selects', undefined, ''],
  detector: ['--detector <name>', 'how changes are found (default e-divisive)', DETECTORS],
  interesting: [
    '--interesting <number>',
    'from which size on a step counts, for all detectors but e-divisive; see below',
    realNumber(0),
  ],
  radius: ['--radius <values>', 'values on each side of a step (default 10); not for e-divisive', wholeNumber(1, 500)],
  minEffect: [
    '--min-effect <share>',
    'smallest relative change (e-divisive: of the smaller level, 2% unless given)',
    share,
  ],
  falsePositiveRate: [
    '--false-positive-rate <share>',
    'chance that shuffled data shows anything, e-divisive (default 5%)',
    share,
  ],
  from: ['--from <commit>', 'first commit'],
  to: ['--to <commit>', 'last commit'],
  only: ['--only <kind>', 'only changes of this kind', ['regression', 'improvement', 'changed']],
  plot: ['--plot', 'draw the series with the largest change'],
});

type DetectionOptions = Values<typeof REGRESSIONS>;

/** A change, by either kind of detector. */
type Found = Regression | Step;

/** How changes are looked for: what the command line says, and where it is silent the config file. */
type Detection =
  | { readonly detector: 'e-divisive'; readonly falsePositiveRate?: number; readonly minEffect?: number }
  | StepScanOptions;

/** An option that a detector does not look at is a mistake, not a detail. */
const detectionOf = (options: DetectionOptions, configured: DetectionConfig | undefined): Detection => {
  const detector = options.detector ?? configured?.detector ?? 'e-divisive';
  // What the file says of another detector means nothing to this one.
  const file = configured?.detector === detector ? configured : undefined;
  const minEffect = options.minEffect ?? configured?.minimumEffect;
  if (detector === 'e-divisive') {
    for (const name of ['interesting', 'radius'] as const) {
      if (options[name] !== undefined) throw wrongUsage(`--${name} means nothing to e-divisive; name a --detector`);
    }
    return { detector, falsePositiveRate: options.falsePositiveRate ?? file?.significance, minEffect };
  }
  if (options.falsePositiveRate !== undefined) {
    throw wrongUsage(`--false-positive-rate means nothing to ${detector}; only e-divisive has one`);
  }
  const interesting = options.interesting ?? file?.interesting;
  if (interesting === undefined) throw wrongUsage(`${detector} needs --interesting: ${STEPS[detector][1]}`);
  const radius = options.radius ?? file?.radius;
  return { detector, interesting, radius, stddevThreshold: file?.stddevThreshold, minEffect };
};

/** The changes of all series, by commit. */
export const detect = async (
  detection: Detection,
  series: readonly PerfSeries[],
  directions: Readonly<Record<string, Direction>>,
): Promise<Found[]> => {
  const statistics = await loadStatistics();
  const histories = series.map(historyOf);
  if (detection.detector === 'e-divisive') {
    const { falsePositiveRate, minEffect } = detection;
    // The store and --from bound a series already; the time grows about with its length.
    const maxPoints = Number.MAX_SAFE_INTEGER;
    return findRegressions(histories, { minEffect, directions, falsePositiveRate, maxPoints }, statistics);
  }
  return histories
    .flatMap((one) => findSteps(one, { ...detection, directions }, statistics))
    .sort((a, b) => a.commit.number - b.commit.number);
};

const row = (found: Found): string[] => [
  found.kind,
  found.commit.hash.slice(0, 10),
  found.commit.timestampMs > 0 ? new Date(found.commit.timestampMs).toISOString().slice(0, 10) : '',
  signedPercent(found.change),
  digits(found.before, 6),
  digits(found.after, 6),
  'pValue' in found ? found.pValue.toExponential(1) : digits(Math.abs(found.regression), 6),
  found.key,
];

export const commands = {
  regressions: command({
    what: 'find the commits at which series changed for good',
    options: REGRESSIONS,
    help: `
What --interesting means:
${Object.entries(STEPS)
  .map(([name, [, meaning]]) => `  ${name.padEnd(13)} ${meaning}`)
  .join('\n')}

Better or worse follows from the unit of a series (its param "unit" or "units"); its param "improvement_direction" goes before.
With an unknown unit a change is only "changed".

Examples:
  $ spanline perf regressions -s ./perf
  $ spanline perf regressions -s ./perf -q 'test=~span' --min-effect 10% --plot
  $ spanline perf regressions -s ./perf --detector cohen --interesting 2 --radius 15

Exit codes: 0 no regression, 1 regressions found, or no series meets the query, 2 wrong usage, 3 the store failed.`,
    run: (options) =>
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
        const measure = detection.detector === 'e-divisive' ? 'p-value' : STEPS[detection.detector][0];
        const head = ['kind', 'commit', 'date', 'change', 'before', 'after', measure, 'series'];
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
  }),
} satisfies Commands;
