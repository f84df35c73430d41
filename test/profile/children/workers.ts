// Worker threads under profile: two that work and answer, one that ends itself and one that is ended in the middle of a profile.
import { isMainThread, parentPort, threadId, Worker, workerData } from 'node:worker_threads';
import { DynamicLabel, type LabelledProfile, shares, startProfile } from 'spanline/profile';

interface Answer {
  readonly threadId: number;
  readonly carrier: string;
  readonly share: number;
  readonly isConserved: boolean;
}

const work = (): number => {
  let sum = 0;
  const rounds = 3000 + Math.random() * 3000;
  for (let i = 0; i < rounds; i++) sum += Math.sqrt(i);
  return sum;
};

const workFor = (ms: number, name: string): void => {
  const mine = new DynamicLabel('thread', name);
  const end = performance.now() + ms;
  while (performance.now() < end) mine.apply(work);
};

const answer = (profile: LabelledProfile, name: string): Answer => {
  const { total, ...rest } = profile.counts;
  return {
    threadId: profile.threadId,
    carrier: profile.carrier,
    share: shares(profile, 'thread').find(({ value }) => value === name)?.share ?? 0,
    isConserved: Object.values(rest).reduce((a, b) => a + b, 0) === total,
  };
};

const takeHere = async (name: string): Promise<Answer> => {
  const running = await startProfile({ everyMs: 0.5 });
  workFor(500, name);
  return answer(running.stop(), name);
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
  for (let round = 0; round < 5; round++) {
    const going = Promise.all([startWorker('exits'), startWorker('ended')]);
    workFor(100, 'main');
    await going;
  }
  workFor(200, 'main');
  const last = answer(running.stop(), 'main');
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
