// One run of a gate's command as values by series: the figures that it prints, and its own time beside them. A command that prints figures in one
// run and none in the next must fail, not be judged by something else.
import { type Direction, directionOf } from '../../detect/direction.js';
import { type BenchOutput, findBenchOutput, parseBenchOutput } from '../parse-output.js';
import { type CommandRun, type RunOptions, runCommand } from '../run-command.js';

/** What is judged of a command. */
export type JudgedKind = 'figures' | 'wall' | 'cpu' | 'instructions';

/** A series of one run. */
export interface RoundValue {
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
export const measureOnce = async (
  command: readonly string[],
  options: RunOptions,
  printsFigures: boolean | undefined,
): Promise<readonly RoundValue[]> => {
  const run = await runCommand(command, options);
  if (printsFigures === false) return ofProcess(run);
  const found = printsFigures ? parseBenchOutput(run.output) : findBenchOutput(run.output);
  return [...(found === undefined ? [] : ofFigures(found)), ...ofProcess(run)];
};
