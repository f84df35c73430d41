// Cases of truth: how many samples bear a label, and how far the shares that a profile shows are from those of the work that was done.
// Label number i of n is asked for i + 1 times as often as the first, at random.
import { setImmediate as turn } from 'node:timers/promises';
import { settings } from './settings.mjs';
import { busyWork, roundsIn } from './work.mjs';

const PIECES = 20;
const STRETCHES = 4;
const MEAN_US = 50;
const WARM_UP_MS = 200;
/** Numbers of labels: the first is what every subject is measured with. */
export const LABELS = [4, 2, 64];

/**
 * A way to label and to profile.
 * @typedef {object} Labeller
 * @property {string} [note]
 * @property {() => unknown} start
 * @property {(i: number) => unknown} label Made after `start`.
 * @property {(label: unknown, fn: () => unknown) => unknown} apply
 * @property {(label: unknown, fn: () => Promise<unknown>) => Promise<unknown>} run
 * @property {() => { all: number, byLabel: Record<string, number> }} stop Weight of the samples in the work; of those with label i.
 */

const pick = (n) => Math.floor((Math.sqrt(1 + 4 * Math.random() * n * (n + 1)) - 1) / 2);

const stretch = (rounds) => Math.ceil(rounds * (0.5 + Math.random()));

const synchronous = (labeller, label, rounds) => {
  let done = 0;
  for (let i = 0; i < STRETCHES; i++) {
    const some = stretch(rounds);
    done += some;
    labeller.apply(label, () => busyWork(some));
  }
  return done;
};

const asynchronous = async (labeller, label, rounds) => {
  let done = 0;
  await labeller.run(label, async () => {
    for (let i = 0; i < STRETCHES; i++) {
      const some = stretch(rounds);
      done += some;
      busyWork(some);
      await undefined;
    }
  });
  return done;
};

const WAYS = { sync: synchronous, async: asynchronous };

/** Work for `ms`, and the share of it that each label had. */
const work = async (labeller, labels, way, ms) => {
  const rounds = roundsIn(MEAN_US);
  const done = labels.map(() => 0);
  for (const end = performance.now() + ms; performance.now() < end; ) {
    const picked = Array.from({ length: PIECES }, () => pick(labels.length));
    const pieces = await Promise.all(picked.map((i) => way(labeller, labels[i], rounds)));
    for (const [at, i] of picked.entries()) done[i] += pieces[at];
    await turn();
  }
  const all = done.reduce((a, b) => a + b);
  return done.map((rounds) => rounds / all);
};

/** One profile: the percentage labelled, and by how many points the share that is most wrong is wrong. */
const takeOne = async (labeller, n, way, ms) => {
  await labeller.start();
  const labels = Array.from({ length: n }, (_, i) => labeller.label(i));
  const truth = await work(labeller, labels, way, ms);
  const { all, byLabel } = labeller.stop();
  const labelled = Object.values(byLabel).reduce((a, b) => a + b, 0);
  const errors = truth.map((share, i) => Math.abs((byLabel[i] ?? 0) / all - share));
  return { labelled: (100 * labelled) / all, error: 100 * Math.max(...errors) };
};

const shareCase = (figure, kind, n, unit, labeller) => {
  let runs = 0;
  const measure = async () => {
    if (runs >= settings.runs) return { caller: [], total: null };
    if (runs++ === 0) await takeOne(labeller, n, WAYS[kind], WARM_UP_MS);
    const found = await takeOne(labeller, n, WAYS[kind], settings.runMs);
    return { caller: [found[figure]], total: null };
  };
  return { name: `${figure}-${kind}`, n, unit, note: labeller.note, opsPerRun: 1, measure };
};

/**
 * @param {'sync' | 'async'} kind
 * @param {Labeller} labeller
 */
export const shareCases = (kind, labeller, numbers = LABELS) => [
  shareCase('labelled', kind, LABELS[0], '%', labeller),
  ...numbers.map((n) => shareCase('error', kind, n, 'points', labeller)),
];
