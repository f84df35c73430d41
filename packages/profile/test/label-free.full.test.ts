// A flame graph without labels is the one of a program that has none: each kind of task has the stacks, and the share of each of them, that its
// work was given, whatever carried the labels; and not a frame of the library is on them.
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildFirst } from '../../../test/support/built.js';
import { resultOf, runFile } from '../../../test/support/child.js';
import { samples } from '../../../test/support/samples.js';
import { carriers } from './support/carriers.js';
import { isByChance } from './support/chance.js';

buildFirst();

const program = fileURLToPath(new URL('./children/flame.mjs', import.meta.url));

// Some 1.7 samples of work a round, half of which scan. With 1000 rounds a kind of task is found that lost half of a stack, with 3000 one that lost a
// third, with 40,000 one that lost a tenth.
const ROUNDS = samples(1000, 3000, 40_000);

/** How a stack says which kind of task it is of: its innermost caller of the work that no other kind has. */
const KINDS: Readonly<Record<string, RegExp>> = {
  apply: /applyTask [^;]*;answer /,
  nested: /innerTask [^;]*;answer /,
  bound: /immediateTask [^;]*;answer /,
  async: /answerLater /,
  coroutine: /answerInSteps /,
};

/** Where each kind works. The same three functions for all kinds: however V8 compiles them, a unit takes as long for one kind as for another. */
const PLACES: Readonly<Record<string, RegExp>> = {
  parse: /;parse [^;]*;spin [^;]*$/,
  scan: /;scan [^;]*$/,
  compare: /;scan [^;]*;compare [^;]*;spin [^;]*$/,
};

interface Flame {
  /** Units of work by kind and place. */
  readonly done: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly stacks: readonly (readonly [stack: string, samples: number])[];
}

const taken = async (carrier: string): Promise<Flame> => {
  const child = await runFile(program, { args: [carrier, String(ROUNDS)] });
  const { folded, done } = resultOf(child) as { folded: string; done: Flame['done'] };
  const stacks = folded
    .trimEnd()
    .split('\n')
    .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))] as const);
  return { done, stacks };
};

const samplesOf = ({ stacks }: Flame, kind: RegExp, place: RegExp): number =>
  stacks.reduce((sum, [stack, count]) => sum + (kind.test(stack) && place.test(stack) ? count : 0), 0);

/** The frames around the work, from the outermost, of all but a few samples: V8 may miss a caller of a function that is being entered. */
const callersOf = ({ stacks }: Flame, kind: string): string => {
  const max = stacks
    .filter(([stack]) => KINDS[kind].test(stack) && PLACES.scan.test(stack))
    .reduce((a, b) => (a[1] >= b[1] ? a : b));
  // What runs a coroutine that has no label.
  return max[0].replace(/(^|;)runSteps [^;]*(?=;)/, '$1').replace(/^;/, '');
};

let without: Flame;
beforeAll(async () => {
  without = await taken('none');
});

describe.each(['none', ...carriers])('carrier %s', (carrier) => {
  let flame: Flame;
  beforeAll(async () => {
    flame = carrier === 'none' ? without : await taken(carrier);
  });

  test.each(Object.keys(PLACES))('each kind of task has its share of %s', (place) => {
    const counts = Object.values(KINDS).map((kind) => samplesOf(flame, kind, PLACES[place]));
    const units = Object.keys(KINDS).map((kind) => flame.done[kind][place]);
    const [samplesInAll, unitsInAll] = [counts, units].map((list) => list.reduce((a, b) => a + b));
    expect(samplesInAll).toBeGreaterThan(0);
    Object.keys(KINDS).forEach((kind, i) => {
      const share = units[i] / unitsInAll;
      expect(isByChance(counts[i], samplesInAll, share), `${kind}: ${counts[i]} of ${samplesInAll}, not ${share}`).toBe(
        true,
      );
    });
  });

  test.each(Object.keys(KINDS))('the stacks of %s are those without labels', (kind) => {
    expect(callersOf(flame, kind)).toBe(callersOf(without, kind));
  });

  test('no frame of the library or of a carrier', () => {
    const work = flame.stacks.filter(([stack]) => /Task |answer/.test(stack));
    expect(work.filter(([stack]) => /\/dist\/|trampoline/.test(stack))).toEqual([]);
  });
});
