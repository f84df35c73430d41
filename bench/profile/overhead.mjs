// Cases of overhead: what a profile costs a program of small asynchronous tasks, in percent of its CPU time, all threads: with its labels,
// against a program that has none, unless told. One process runs both sides in turns, without, with, without, or the difference would drown in the machine's noise.
import { settings } from './settings.mjs';
import { busyWork, roundsIn } from './work.mjs';

const LABELS = 16;
const TASKS = 512;
/** Tasks started before the first is waited for. */
const AT_ONCE = 64;
const MIN_US = 3;
const MAX_US = 5;

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Half the rounds of each task. */
const taskSizes = () => Array.from({ length: TASKS }, () => roundsIn((MIN_US + Math.random() * (MAX_US - MIN_US)) / 2));

const plain = async (rounds) => {
  busyWork(rounds);
  await undefined;
  busyWork(rounds);
};

/** Inside an asynchronous scope: the label has to survive the await. */
const followedTask =
  ({ run }) =>
  (rounds, label) =>
    run(label, () => plain(rounds));

/** Both stretches are labelled by the program itself. */
const unfollowedTask =
  ({ apply }) =>
  async (rounds, label) => {
    apply(label, () => busyWork(rounds));
    await undefined;
    apply(label, () => busyWork(rounds));
  };

const runTasks = async (task, sizes, labels, passes) => {
  for (let pass = 0; pass < passes; pass++) {
    for (let i = 0; i < TASKS; ) {
      let last;
      for (const end = i + AT_ONCE; i < end; i++) last = task(sizes[i], labels[i % LABELS]);
      await last;
    }
  }
};

const overheadCase = (everyMs, n, labeller, task, without) => {
  let passes = 1;
  let sizes;
  let rounds = 0;
  const makeLabels = () => Array.from({ length: LABELS }, (_, i) => labeller.label(i));
  /** Of the side without a profile. Peers have labels only while they profile. */
  let labels = [];
  const side = async (which, given) => {
    const before = cpuMs();
    await runTasks(which, sizes, given, passes);
    return cpuMs() - before;
  };
  // Starting and stopping happens twice a minute, not thrice a second: it is not in the figure.
  const profiled = async () => {
    await labeller.start(everyMs);
    const ms = await side(task, makeLabels());
    await labeller.stop();
    return ms;
  };
  const warmUp = async (ms) => {
    sizes = taskSizes();
    if (without !== plain) labels = makeLabels();
    for (const end = performance.now() + ms; performance.now() < end; ) {
      passes = Math.max(1, Math.round((settings.sideMs * passes) / Math.max(1, await side(without, labels))));
      await profiled();
    }
  };
  const measure = async ({ warmUpMs }) => {
    if (rounds++ >= settings.triples) return { caller: [], total: null };
    if (sizes === undefined) await warmUp(Math.max(warmUpMs, 2 * settings.sideMs));
    const before = await side(without, labels);
    const during = await profiled();
    const after = await side(without, labels);
    return { caller: [((2 * during) / (before + after) - 1) * 100], total: null };
  };
  return { name: `overhead-${everyMs}ms`, n, unit: '%', note: labeller.note, opsPerRun: 1, measure };
};

const casesOf = (n, labeller, task, without = plain) =>
  [10, 1].map((everyMs) => overheadCase(everyMs, n, labeller, task, without));

export const followedOverhead = (labeller) => casesOf('followed', labeller, followedTask(labeller));
export const unfollowedOverhead = (labeller) => casesOf('unfollowed', labeller, unfollowedTask(labeller));
/** Labels on both sides: of the profile alone. */
export const profileOverhead = (labeller) =>
  casesOf('profile', labeller, followedTask(labeller), followedTask(labeller));
/** A profile without labels. */
export const unlabelledOverhead = (labeller) => casesOf('followed', labeller, plain);
