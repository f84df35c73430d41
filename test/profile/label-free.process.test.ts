// A flame graph without labels is the one of a program that has none: the same stacks, with the same shares, whatever carried the labels
// (the same work in a process each), and not a frame of the library on them.
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildFirst } from '../cli/support/spanline.js';
import { resultOf, runFile } from '../support/child.js';
import { carriers } from './support/carriers.js';

buildFirst();

const program = fileURLToPath(new URL('./children/flame.mjs', import.meta.url));
/** Of all samples of the work: some hundred samples. */
const SIGNIFICANT = 0.02;
const STANDARD_ERRORS = 5;
/** V8 compiles the same work in another way in each process, which shifts shares by more than chance does. */
const UNLABELLED_RUNS = 3;
const SPREADS = 3;

interface Flames {
  readonly stacks: ReadonlyMap<string, number>;
  readonly total: number;
}

const lines = (folded: string): [stack: string, samples: number][] =>
  folded
    .trimEnd()
    .split('\n')
    .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]);

/** Stacks of the work, from where it begins. */
const flames = (folded: string): Flames => {
  const stacks = new Map<string, number>();
  let total = 0;
  for (const [stack, samples] of lines(folded)) {
    if (!stack.includes('Task ') && !stack.includes('answer')) continue;
    // What runs a coroutine that has no label.
    const frames = stack.split(';').filter((frame) => !frame.startsWith('runSteps '));
    const key = frames.join('\n');
    stacks.set(key, (stacks.get(key) ?? 0) + samples);
    total += samples;
  }
  return { stacks, total };
};

const taken = async (carrier: string): Promise<Flames> => {
  const { folded } = resultOf(await runFile(program, { args: [carrier] })) as { folded: string };
  return flames(folded);
};

const shareIn = ({ stacks, total }: Flames, stack: string): number => (stacks.get(stack) ?? 0) / total;

/** All runs as one. */
const together = (runs: readonly Flames[]): Flames => {
  const stacks = new Map<string, number>();
  for (const run of runs)
    for (const [stack, samples] of run.stacks) stacks.set(stack, (stacks.get(stack) ?? 0) + samples);
  return { stacks, total: runs.reduce((sum, { total }) => sum + total, 0) };
};

/** By how much the share of a stack differs from one process to the next, relative to it: the root mean square over all of them. */
const spreadOf = (runs: readonly Flames[], stacks: readonly string[]): number => {
  const mean = together(runs);
  const squares = stacks.flatMap((stack) => runs.map((run) => (shareIn(run, stack) / shareIn(mean, stack) - 1) ** 2));
  return Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / (stacks.length * (runs.length - 1)));
};

let runs: readonly Flames[];
let without: Flames;
beforeAll(async () => {
  const taking: Flames[] = [];
  for (let i = 0; i < UNLABELLED_RUNS; i++) taking.push(await taken('none'));
  runs = taking;
  without = together(runs);
});

describe.each(carriers)('carrier %s', (carrier) => {
  let labelled: Flames;
  beforeAll(async () => {
    labelled = await taken(carrier);
  });

  test('the same stacks, with the same shares', () => {
    const all = [...new Set([...without.stacks.keys(), ...labelled.stacks.keys()])];
    const significant = all.filter((stack) => [without, labelled].some((each) => shareIn(each, stack) >= SIGNIFICANT));
    // Six kinds of tasks, and three places where each is found working.
    expect(significant).toHaveLength(15);
    const spread = spreadOf(runs, significant);
    // Else nothing is shown.
    expect(spread).toBeLessThan(0.2);
    for (const stack of significant) {
      const [p, q] = [shareIn(without, stack), shareIn(labelled, stack)];
      const stderr = Math.sqrt((p * (1 - p)) / without.total + (q * (1 - q)) / labelled.total);
      expect(p, stack).toBeGreaterThan(0);
      expect(q, stack).toBeGreaterThan(0);
      const most = STANDARD_ERRORS * stderr + SPREADS * spread * p;
      expect(Math.abs(p - q), `${stack}\n${p} without, ${q} with labels`).toBeLessThan(most);
    }
  });

  test('no frame of the library or of a carrier', () => {
    const ofOurs = [...labelled.stacks.keys()].filter((stack) => /\/dist\/|trampoline/.test(stack));
    expect(ofOurs).toEqual([]);
  });
});
