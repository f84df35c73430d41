// Worker threads under profile: two that work and answer, one that ends itself and one that is ended in the middle of a profile.
import { runInThisContext } from 'node:vm';
import { isMainThread, parentPort, threadId, Worker, workerData } from 'node:worker_threads';
import { DynamicLabel, type LabelledProfile, SampleKind, startProfile } from '@spanline/profile';
import { tooLongFor } from '../support/never-inlined.js';

/** Samples of the work by the thread that they name; '' where they name none. */
interface Answer {
  readonly threadId: number;
  readonly byThread: Readonly<Record<string, number>>;
  readonly isConserved: boolean;
}

/** How often threads under profile go away. */
const ROUNDS = Number(process.argv[2]);
const MIN = 100;

const work = runInThisContext(
  `(function work() { let x = 0; ${tooLongFor('x')} for (let i = 3e4 * (0.5 + Math.random()); i > 0; i--) x += Math.sqrt(i); return x; })`,
) as () => number;

const workFor = (ms: number, name: string): void => {
  const mine = new DynamicLabel('thread', name);
  const end = performance.now() + ms;
  while (performance.now() < end) mine.apply(work);
};

const answer = ({ threadId, counts, samples, labels, nodes }: LabelledProfile): Answer => {
  const { total, ...rest } = counts;
  const byThread: Record<string, number> = {};
  for (let i = 0; i < samples.count; i++) {
    if (nodes.functionName[samples.node[i]] !== 'work' || samples.kind[i] !== SampleKind.js) continue;
    const name = String(labels[samples.label[i]].thread ?? '');
    byThread[name] = (byThread[name] ?? 0) + 1;
  }
  return { threadId, byThread, isConserved: Object.values(rest).reduce((a, b) => a + b, 0) === total };
};

/** With enough samples, however seldom this thread has a CPU. */
const takeHere = async (name: string): Promise<Answer> => {
  for (let ms = MIN; ; ms *= 2) {
    const running = await startProfile({ everyMs: 0.5 });
    workFor(ms, name);
    const taken = answer(running.stop());
    if ((taken.byThread[name] ?? 0) >= MIN) return taken;
  }
};

const startWorker = (mode: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: mode });
    worker.once('error', reject);
    worker.once('message', (message) => {
      if (mode === 'ended') worker.terminate().then(resolve, reject);
      else resolve(message);
    });
    if (mode === 'exits') worker.once('exit', resolve);
  });

const main = async (): Promise<void> => {
  const all = await Promise.all([startWorker('answers'), startWorker('answers'), takeHere('0')]);
  // A main thread at work, sampled all the time, while threads under profile go away.
  const running = await startProfile({ everyMs: 0.2 });
  for (let round = 0; round < ROUNDS; round++) {
    const going = Promise.all([startWorker('exits'), startWorker('ended')]);
    workFor(100, 'main');
    await going;
  }
  workFor(100, 'main');
  const last = answer(running.stop());
  console.log(JSON.stringify({ all, last }));
};

const inWorker = async (): Promise<void> => {
  const name = String(threadId);
  if (workerData === 'answers') {
    parentPort?.postMessage(await takeHere(name));
    return;
  }
  await startProfile({ everyMs: 0.2 });
  workFor(30, name);
  if (workerData === 'exits') process.exit(0);
  parentPort?.postMessage('at work');
  for (;;) workFor(1000, name);
};

await (isMainThread ? main() : inWorker());
