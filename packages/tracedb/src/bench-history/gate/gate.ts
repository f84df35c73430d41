// The gate: measures two commits by turns until it is sure of every series or its budget is spent, and says what it found, as markdown for a pull
// request. A run of the command gives the figures that it prints, and its own time beside them; a command that prints figures in one run and none in
// the next must fail, not be judged by something else. The gate must never look at its rounds more often than their judgement is paid for, nor take
// what it could not decide for good news; its report says first what could not be decided, and every change with its interval.
import { getOrMake, throwIfAborted, timers } from 'spanline/internal/base';
import { type Direction, directionOf } from '../../detect/direction.js';
import { aborted, BenchError, badOption, unitFactor } from '../figure.js';
import {
  type JudgedSeries,
  type JudgeOptions,
  judgeOptions,
  judgeRounds,
  MAX_PAIRS,
  nextLook,
  type RoundSeries,
} from '../judge.js';
import { type BenchOutput, findBenchOutput, parseBenchOutput } from '../parse-output.js';
import { type CommandRun, type RunOptions, runCommand } from '../run-command.js';
import type { GitCommit, WorkTrees } from './work-trees.js';

/** What is judged of a command. */
export type JudgedKind = 'figures' | 'wall' | 'cpu' | 'instructions';

/** A series of one run. */
interface RoundValue {
  readonly kind: JudgedKind;
  readonly key: string;
  readonly unit: string;
  readonly direction: Direction;
  readonly value: number;
}

const ofProcess = ({ wallMs, cpuMs, instructions }: CommandRun): readonly RoundValue[] => {
  const values = [
    ['wall', 'ms', wallMs],
    ['cpu', 'ms', cpuMs],
    ['instructions', 'instructions', instructions],
  ] as const;
  return values.flatMap(([kind, unit, value]) =>
    value === undefined || value <= 0
      ? []
      : [{ kind, key: `the command's ${kind}`, unit, direction: 'down' as const, value }],
  );
};

const ofFigures = ({ figures }: BenchOutput): readonly RoundValue[] =>
  figures.map(({ bench, metric, unit, value }) => ({
    kind: 'figures',
    key: `${bench} ${metric}`,
    unit,
    direction: directionOf(unit),
    value,
  }));

/** One run of the command, as values. `printsFigures`: whether it must, or must not; undefined where that is what the run is to tell. */
const measureOnce = async (
  command: readonly string[],
  options: RunOptions,
  printsFigures: boolean | undefined,
): Promise<readonly RoundValue[]> => {
  const run = await runCommand(command, options);
  if (printsFigures === false) return ofProcess(run);
  const found = printsFigures ? parseBenchOutput(run.output) : findBenchOutput(run.output);
  return [...(found === undefined ? [] : ofFigures(found)), ...ofProcess(run)];
};

/** How a gate measures and judges. */
interface GateOptions extends JudgeOptions {
  readonly trees: WorkTrees;
  /** A benchmark, run in the directory of either commit. */
  readonly command: readonly string[];
  /** Milliseconds that rounds may take; the first run of each commit, which fills caches, is not among them. */
  readonly budgetMs: number;
  /** Most rounds, up to 300. Default 100. */
  readonly maxRounds?: number;
  /** What is judged: figures where the command prints any, else its CPU and wall time. */
  readonly kinds?: readonly JudgedKind[];
  /** Counts instructions: `perf` in every round, `valgrind` in one run of each commit before them. */
  readonly counter?: 'perf' | 'valgrind';
  readonly signal?: AbortSignal;
  readonly onProgress?: (text: string) => void;
}

/** A series that is shown and not judged. */
type BesideSeries = Omit<JudgedSeries, 'judgement' | 'pValue'>;

/** What a gate found. */
export interface GateResult {
  /** `worse`: at least one series is; `unsure`: none is, and of at least one it cannot be told. */
  readonly outcome: 'worse' | 'fine' | 'unsure';
  readonly judged: readonly JudgedSeries[];
  readonly beside: readonly BesideSeries[];
  /** Series that are not in all rounds of both commits, or had a value that is not above 0. */
  readonly leftOut: readonly string[];
  /** Instructions of one run of each commit under valgrind. */
  readonly instructions?: { readonly base: number; readonly head: number };
  readonly rounds: number;
  readonly looks: number;
  readonly spentMs: number;
}

type Side = 'base' | 'head';

const MAX_ROUNDS = 100;

/** The rounds of one series, both sides. */
interface SeriesRounds {
  readonly value: RoundValue;
  readonly base: number[];
  readonly head: number[];
}

/** All rounds so far, by series. */
class Rounds {
  readonly #rounds = new Map<string, SeriesRounds>();
  count = 0;

  add(round: Readonly<Record<Side, readonly RoundValue[]>>): void {
    this.count++;
    for (const side of ['base', 'head'] as const) {
      for (const value of round[side]) {
        const rounds = getOrMake(this.#rounds, value.key, () => ({ value, base: [], head: [] }));
        const { unit } = rounds.value;
        if (value.value > 0) rounds[side].push(value.value * unitFactor(value.key, value.unit, unit));
      }
    }
  }

  #isWhole = ({ base, head }: SeriesRounds): boolean => base.length === this.count && head.length === this.count;

  /** What can be compared, of some kinds. */
  series(wants: (kind: JudgedKind) => boolean): RoundSeries[] {
    return [...this.#rounds.values()]
      .filter((rounds) => wants(rounds.value.kind) && this.#isWhole(rounds))
      .map(({ value: { key, unit, direction }, base, head }) => ({ key, unit, direction, base, head }));
  }

  get leftOut(): string[] {
    return [...this.#rounds].flatMap(([key, rounds]) => (this.#isWhole(rounds) ? [] : [key]));
  }
}

/** The judgement of a series stands from the look that gave it, with the figures that it was given by: a later look is stricter, and would take it back. */
class Verdicts {
  readonly #decided = new Map<string, JudgedSeries>();
  judged: readonly JudgedSeries[] = [];
  looks = 0;

  constructor(readonly options: Required<JudgeOptions>) {}

  look(series: readonly RoundSeries[]): void {
    this.looks++;
    this.judged = judgeRounds(series, this.options, this.looks).map((one) => {
      const standing = this.#decided.get(one.key) ?? one;
      if (standing.judgement !== 'unsure') this.#decided.set(one.key, standing);
      return standing;
    });
  }

  get areSure(): boolean {
    return this.judged.every(({ judgement }) => judgement !== 'unsure');
  }

  get outcome(): GateResult['outcome'] {
    if (this.judged.some(({ judgement }) => judgement === 'worse')) return 'worse';
    return this.areSure ? 'fine' : 'unsure';
  }
}

const underValgrind = async ({
  trees,
  command,
  signal,
  onProgress,
}: GateOptions): Promise<{ readonly base: number; readonly head: number }> => {
  const count = async (side: Side): Promise<number> => {
    onProgress?.(`count the instructions of ${side} under valgrind`);
    const { instructions } = await runCommand(command, { cwd: trees[side].directory, signal, counter: 'valgrind' });
    if (instructions !== undefined) return instructions;
    throw new BenchError(
      'ERR_SPANLINE_BENCH_COMMAND',
      'valgrind counted no instructions; leave out --instructions valgrind',
    );
  };
  return { base: await count('base'), head: await count('head') };
};

/** Which side comes first, round by round: in every two rounds each once, in an order that nobody knows beforehand. */
const turns = function* (): Generator<readonly [Side, Side]> {
  for (;;) {
    const isBaseFirst = Math.random() < 0.5;
    const one = ['base', 'head'] as const;
    const other = ['head', 'base'] as const;
    yield isBaseFirst ? one : other;
    yield isBaseFirst ? other : one;
  }
};

const kindsOf = ({ kinds }: GateOptions, first: readonly RoundValue[]): readonly JudgedKind[] => {
  if (kinds !== undefined) {
    const missing = kinds.find((kind) => !first.some((value) => value.kind === kind));
    if (missing === undefined) return kinds;
    throw badOption(
      `the command gives no ${missing} to judge; it gives ${[...new Set(first.map(({ kind }) => kind))].join(', ')}`,
    );
  }
  return first.some(({ kind }) => kind === 'figures') ? ['figures'] : ['cpu', 'wall'];
};

const besideOf = ({ judgement: _, pValue: __, ...series }: JudgedSeries): BesideSeries => series;

/** Measures and judges. Throws `ERR_SPANLINE_BENCH_COMMAND` when the command fails for either commit. */
export const runGate = async (options: GateOptions): Promise<GateResult> => {
  const { trees, command, budgetMs, maxRounds = MAX_ROUNDS, signal, onProgress } = options;
  const verdicts = new Verdicts(judgeOptions(options));
  if (!(maxRounds >= 1 && maxRounds <= MAX_PAIRS))
    throw badOption(`maxRounds must be 1 to ${MAX_PAIRS}, not ${maxRounds}`);
  const instructions = options.counter === 'valgrind' ? await underValgrind(options) : undefined;
  const counter = options.counter === 'perf' ? options.counter : undefined;
  const measure = (side: Side, printsFigures?: boolean): Promise<readonly RoundValue[]> =>
    measureOnce(command, { cwd: trees[side].directory, signal, counter }, printsFigures);
  onProgress?.('the first run of each commit, which is not counted');
  const first = await measure('head');
  if (counter === 'perf' && !first.some(({ kind }) => kind === 'instructions')) {
    throw badOption('perf counts no instructions on this machine, as on many virtual ones; use valgrind, or none');
  }
  const kinds = kindsOf(options, first);
  const printsFigures = first.some(({ kind }) => kind === 'figures');
  await measure('base', printsFigures);
  const rounds = new Rounds();
  const start = timers.monotonicMs();
  const spent = (): number => timers.monotonicMs() - start;
  let look = nextLook(0);
  for (const [one, other] of turns()) {
    throwIfAborted(signal, 'the gate', aborted);
    const values = { [one]: await measure(one, printsFigures), [other]: await measure(other, printsFigures) };
    rounds.add(values as Record<Side, readonly RoundValue[]>);
    onProgress?.(`round ${rounds.count}, ${Math.round(spent() / 1000)} of ${Math.round(budgetMs / 1000)} s`);
    // A round more would end behind the budget.
    const isLast = rounds.count >= maxRounds || spent() * (1 + 1 / rounds.count) > budgetMs;
    if (!isLast && rounds.count < look) continue;
    const series = rounds.series((kind) => kinds.includes(kind));
    if (series.length === 0) throw badOption('base and head have no series in common; let both print the same names');
    verdicts.look(series);
    if (isLast || verdicts.areSure) break;
    look = nextLook(rounds.count);
  }
  return {
    outcome: verdicts.outcome,
    judged: verdicts.judged,
    beside: judgeRounds(rounds.series((kind) => !kinds.includes(kind))).map(besideOf),
    leftOut: rounds.leftOut,
    ...(instructions !== undefined && { instructions }),
    rounds: rounds.count,
    looks: verdicts.looks,
    spentMs: spent(),
  };
};

/** What a report tells beside the result. */
export interface ReportFacts {
  readonly base: GitCommit;
  readonly head: GitCommit;
  readonly command: readonly string[];
  readonly minEffect: number;
  readonly alpha: number;
  readonly machine: string;
  readonly node: string;
}

/** Two digits of a share in percent, with its sign. */
export const percentText = (share: number): string => {
  const percent = share * 100;
  const digits = Math.abs(percent) < 10 ? 1 : 0;
  return `${percent >= 0 ? '+' : ''}${percent.toFixed(digits)} %`;
};

/** `+10 % (+8.1 to +12 %)`. */
export const changeText = ({ change, low, high }: BesideSeries): string =>
  `${percentText(change)} (${percentText(low).replace(' %', '')} to ${percentText(high)})`;

const HEADLINES: Readonly<Record<GateResult['outcome'], string>> = {
  worse: 'Slower',
  fine: 'No slower',
  unsure: 'Not sure',
};

/** A sentence that says how the gate ended. */
export const outcomeText = ({ outcome, judged }: GateResult, { minEffect }: Pick<ReportFacts, 'minEffect'>): string => {
  const count = (judgement: JudgedSeries['judgement']): number =>
    judged.filter((one) => one.judgement === judgement).length;
  const min = percentText(minEffect).slice(1);
  if (outcome === 'worse') return `${count('worse')} of ${judged.length} are worse by ${min} or more`;
  if (outcome === 'fine') return `none of ${judged.length} is worse by ${min} or more`;
  return `of ${count('unsure')} of ${judged.length} it is not known whether they are worse by ${min} or more; a larger budget may`;
};

/** A cell of a table may hold what a benchmark is named. */
const cell = (text: string): string => text.replace(/[\\|`<>*_]/g, (mark) => `\\${mark}`).replace(/\s+/g, ' ');

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const commitText = ({ hash, subject }: GitCommit): string => `\`${hash.slice(0, 10)}\` ${cell(subject)}`;

/** The report. */
export const gateReport = (result: GateResult, facts: ReportFacts): string => {
  const { judged, beside, leftOut, instructions, rounds, looks, spentMs } = result;
  const { base, head, command, alpha, machine, node } = facts;
  const order: readonly JudgedSeries['judgement'][] = ['worse', 'unsure', 'changed', 'better', 'fine'];
  const sorted = judged.toSorted((a, b) => order.indexOf(a.judgement) - order.indexOf(b.judgement));
  const others = [
    ...beside.map((one) => row(cell(one.key), changeText(one), 'not judged')),
    ...(instructions === undefined
      ? []
      : [
          row(
            'instructions under valgrind, one run',
            percentText(instructions.head / instructions.base - 1),
            'not judged',
          ),
        ]),
  ];
  return [
    `## ${HEADLINES[result.outcome]}: ${outcomeText(result, facts)}`,
    '',
    row('series', 'head against base', 'judged'),
    row('---', '---', '---'),
    ...sorted.map((one) => row(cell(one.key), changeText(one), one.judgement)),
    ...others,
    '',
    `Base ${commitText(base)}, head ${commitText(head)}. \`${command.join(' ').replaceAll('`', "'")}\`, ${rounds} rounds of either by turns in ${Math.round(spentMs / 1000)} s,`,
    `judged ${looks === 1 ? 'once' : `${looks} times`}; false alarms at most ${percentText(alpha).slice(1)} of all gates; intervals of 95 %. Node ${node}, ${cell(machine)}.`,
    ...(leftOut.length === 0
      ? []
      : ['', `Not in all rounds of both, or not above 0: ${leftOut.map(cell).join(', ')}.`]),
    '',
  ].join('\n');
};
