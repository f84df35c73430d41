// A step that anyone sees is found where it is: between changes back, beside outliers, behind noise that wanders, in a long history, in a real one, and
// read backwards.
import { expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { type ChangePoint, changePoints } from '../../src/detect/e-divisive.js';
import { findRegressions } from '../../src/detect/regressions.js';
import { loadStatistics } from '../../src/detect/statistics.js';
import { otelHistory } from './otel-history.js';
import { noise, seeded } from './seeded.js';

const statistics = await loadStatistics();

const placesOf = (values: readonly number[]): number[] =>
  changePoints(values, { minEffect: 0.02 }, statistics).map(({ index }) => index);

const flat = (level: number, length: number): number[] => new Array<number>(length).fill(level);

/** `length` values around a level. */
const around = (level: number, length: number, deviation: number, random: () => number): number[] =>
  Array.from({ length }, () => level + deviation * noise(random));

const isNear = (places: readonly number[], wanted: number): boolean => places.some((at) => Math.abs(at - wanted) <= 3);

test.each([30, 40, 60])('blocks of %i values that go up and down after noise', (length) => {
  for (let seed = 1; seed <= samples(4, 20, 200); seed++) {
    const random = seeded(seed);
    const quiet = Array.from({ length: 300 }, () => 60 + 80 * random());
    const history = [...quiet, ...[130, 70, 130, 70].flatMap((level) => around(level, length, 5, random))];
    const places = placesOf(history);
    for (let i = 1; i < 4; i++) {
      expect(isNear(places, 300 + i * length), `seed ${seed}: ${places} without ${300 + i * length}`).toBe(true);
    }
  }
});

test('outliers in flat whole numbers hide no step', () => {
  const steps = [...flat(4, 50), ...flat(8, 50)];
  for (const end of [[1600, 1600, 7, 7, 7], [1600], [8, 1600, 1600, 8, 0, 8, 8], []]) {
    expect(placesOf([...steps, ...end]), String(end)).toEqual([50]);
    expect(placesOf([...flat(4, 20), 1600, ...flat(4, 29), ...flat(8, 50), ...end]), String(end)).toEqual([50]);
  }
});

test('a small change just before a large one does not take its place', () => {
  expect(placesOf([...flat(9, 60), ...flat(12, 6), ...flat(3, 60)]).filter((at) => at !== 60)).toEqual([66]);
});

test('639 to 509 MB inside 1,700 whole numbers that creep and jump', () => {
  for (let seed = 1; seed <= samples(2, 10, 100); seed++) {
    const random = seeded(seed);
    let level = 560;
    // Most runs give what the run before gave; some are a little off, now and then a change of the program moves all that follow.
    const run = (): number => {
      if (random() < 0.02) level += Math.round(4 * noise(random));
      return Math.round(level + (random() < 0.2 ? 3 * noise(random) : 0) + (random() < 0.01 ? 200 : 0));
    };
    const before = Array.from({ length: 900 }, run);
    level = 639;
    const top = Array.from({ length: 40 }, run);
    level = 509;
    const history = [...before, ...top, ...Array.from({ length: 760 }, run)];
    const places = placesOf(history);
    expect(isNear(places, 940), `seed ${seed}: ${places}`).toBe(true);
  }
});

test('10,779 values with a change at each 38 of them', () => {
  const random = seeded(5);
  const history = Array.from({ length: 10_779 }, (_, i) => (Math.floor(i / 38) % 2 === 0 ? 100 : 120) + noise(random));
  const places = placesOf(history);
  const wanted = Array.from({ length: 282 }, (_, i) => (i + 1) * 38);
  expect(wanted.filter((at) => !isNear(places, at))).toEqual([]);
  expect(places.length).toBeLessThanOrEqual(wanted.length + 2);
});

const SIDE = 30;

/** Where 30 values on each side are apart and their medians differ by a tenth at least. */
const clearSteps = (values: readonly number[]): number[] => {
  const places: number[] = [];
  for (let at = SIDE; at + SIDE <= values.length; at++) {
    const [before, after] = [values.slice(at - SIDE, at), values.slice(at, at + SIDE)];
    const isApart = Math.max(...before) < Math.min(...after) || Math.min(...before) > Math.max(...after);
    const [from, to] = [statistics.median(before), statistics.median(after)];
    if (isApart && Math.abs(to - from) >= 0.1 * Math.abs(from)) places.push(at);
  }
  return places;
};

test('every clear step of the history of the OpenTelemetry JS SDK', () => {
  const history = otelHistory();
  const found = findRegressions(history, {}, statistics);
  let steps = 0;
  for (const { key, values, commits } of history) {
    const places = found.filter((one) => one.key === key).map(({ commit }) => commit.number);
    for (const at of clearSteps(Array.from(values))) {
      steps++;
      const near = commits.slice(at - 3, at + 4).map(({ number }) => number);
      expect(
        places.some((place) => near.includes(place)),
        `${key} at ${commits[at].number}, found ${places}`,
      ).toBe(true);
    }
  }
  expect(steps).toBeGreaterThan(25);
});

test.each([2, 3, 5, 7])('a step of a sawtooth with a period of %i values, which goes on as if it walked', (period) => {
  for (const [before, after] of [
    [30, 30],
    [40, 20],
    [60, 60],
  ]) {
    const history = Array.from({ length: before + after }, (_, i) => (i < before ? 100 : 120) + (i % period));
    expect(placesOf(history)).toEqual([before]);
  }
});

/** Runs of two kinds, of which one takes half as long again, in random order; `wide` is how far those of a kind differ, as a share. */
const twoKinds = (length: number, factor: number, random: () => number, wide = 0): number[] =>
  Array.from({ length }, () => {
    const kind = factor * (random() < 0.5 ? 100 : 150);
    return wide === 0 ? kind : kind * (1 + wide * (2 * random() - 1));
  });

/** Seeds of 20 whose step in the middle is not found. */
const missedOf = (side: number, factor: number, wide: number): number[] => {
  const missed: number[] = [];
  for (let seed = 1; seed <= 20; seed++) {
    const random = seeded(seed);
    const history = [...twoKinds(side, 1, random, wide), ...twoKinds(side, factor, random, wide)];
    // The rate that findRegressions asks for one series.
    const changes = changePoints(history, { pValue: 0.05, minEffect: 0.02 }, statistics);
    if (!changes.some(({ index }) => Math.abs(index - side) <= 10)) missed.push(seed);
  }
  return missed;
};

test.each([50, 100, 200])('runs of two kinds, then all times 1.3, %i values on each side', (side) => {
  expect(missedOf(side, 1.3, 0)).toEqual([]);
});

test.each([
  [1.3, 50, 0.0025],
  [1.3, 100, 0.0025],
  [1.3, 200, 0.01],
  [1.5, 50, 0.0025],
  [1.5, 100, 0.01],
])('runs of two kinds, then all times %d, %i values on each side, each a little off its kind', (factor, side, wide) => {
  // Chance may put the runs of one kind together, as a walk does.
  expect(missedOf(side, factor, wide).length).toBeLessThanOrEqual(2);
});

/** Wide noise that wanders, then tight steps down, as when a machine is replaced and the program gets faster after. */
const quietLater = (random: () => number): number[] => {
  let away = 0;
  const wandering = Array.from({ length: 130 }, () => {
    away = 0.9 * away + 6 * noise(random);
    return 100 + away + 2 * noise(random);
  });
  const lowest = Math.min(...wandering.slice(-40));
  return [...wandering, ...around(lowest - 8, 40, 1, random), ...around(lowest - 18, 60, 1, random)];
};

/** Two machines by turns, then a third that is slower than both. The faster one has the last turn: one of the slower would belong to what is slow. */
const machines = (random: () => number): number[] => {
  const turns: number[] = [];
  for (let turn = 0; turns.length < 900 || turn % 2 === 0; turn++) {
    turns.push(...around(turn % 2 === 0 ? 100 : 140, 5 + Math.floor(15 * random()), 1, random));
  }
  return [...turns.slice(-900), ...around(152, 40, 1, random)];
};

test.each([
  { name: 'tight steps behind noise that wanders', make: quietLater, steps: [130, 170] },
  { name: 'a slower machine behind two that took turns', make: machines, steps: [900] },
])('$name, read either way', ({ make, steps }) => {
  for (let seed = 1; seed <= samples(10, 20, 50); seed++) {
    const history = make(seeded(seed));
    const back = placesOf(history.toReversed()).map((at) => history.length - at);
    for (const places of [placesOf(history), back]) {
      for (const wanted of steps) {
        expect(isNear(places, wanted), `seed ${seed}: ${places} without ${wanted}`).toBe(true);
      }
    }
  }
});

test('a step whose older stretch has the mean of what follows, because its level wandered', () => {
  const random = seeded(3);
  const older = [64, 144, 64, 144, 64, 144, 64, 144].flatMap((level) => around(level, 8, 3, random));
  const history = [...older, ...around(80, 31, 1, random), ...around(96, 40, 1, random)];
  const at = history.length - 40;
  const change = changePoints(history, { minEffect: 0.02 }, statistics).find(({ index }) => Math.abs(index - at) <= 3);
  expect(change?.change).toBeGreaterThan(0.15);
});

test('a hair before a large step of flat sizes does not take its place', () => {
  for (const early of [5, 8, 12]) {
    const history = [...flat(1000, 200), ...flat(1004, early), ...flat(1400, 200)];
    expect(isNear(placesOf(history), 200 + early), `${early}: ${placesOf(history)}`).toBe(true);
  }
});

/** The changes of a history read backwards as those of the history itself. */
const mirrored = (back: readonly ChangePoint[], length: number): Pick<ChangePoint, 'index' | 'pValue'>[] =>
  back.map(({ index, pValue }) => ({ index: length - index, pValue })).reverse();

test('any history read backwards has its changes at the same places, as sure', () => {
  const stretch = fc.record({
    level: fc.integer({ min: 80, max: 140 }),
    length: fc.integer({ min: 5, max: 80 }),
    deviation: fc.constantFrom(0, 0.4, 2, 10),
  });
  const property = fc.property(
    fc.array(stretch, { minLength: 1, maxLength: 6 }),
    fc.integer(),
    fc.boolean(),
    fc.constantFrom(0, 0.02, 0.1, 0.3),
    (stretches, seed, isWhole, minEffect) => {
      const random = seeded(seed);
      const exact = stretches.flatMap(({ level, length, deviation }) => around(level, length, deviation, random));
      const values = isWhole ? exact.map(Math.round) : exact;
      // A history that is its own mirror image has no direction in which ties could be settled.
      fc.pre(values.some((value, i) => value !== values[values.length - 1 - i]));
      const options = { pValue: 0.05, minEffect };
      expect(mirrored(changePoints(values.toReversed(), options, statistics), values.length)).toEqual(
        changePoints(values, options, statistics).map(({ index, pValue }) => ({ index, pValue })),
      );
    },
  );
  fc.assert(property, { numRuns: samples(50, 300, 2000) });
});

// Of these sizes some rises of the history are within their size, and beyond it when read as falls.
test.each([0.08, 0.1, 0.2, 0.25, 0.5])(
  'the history of the OpenTelemetry JS SDK, read backwards, changes at the same places by %d',
  (minEffect) => {
    let changes = 0;
    for (const { key, values } of otelHistory()) {
      const options = { pValue: 0.05 / 25, minEffect };
      const ahead = changePoints(values, options, statistics);
      const back = changePoints(values.toReversed(), options, statistics);
      changes += ahead.length;
      expect(mirrored(back, values.length), key).toEqual(ahead.map(({ index, pValue }) => ({ index, pValue })));
    }
    expect(changes).toBeGreaterThan(0);
  },
);
