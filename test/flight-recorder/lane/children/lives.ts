// Programs whose life the lane must not change: one for each argument. Each prints what the test asks.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { type LaneRow, startLane } from '../../../../src/flight-recorder/index.js';
import { LocalSpan, Span, setReporter } from '../../../../src/index.js';

setReporter({ name: 'nowhere', report: () => {} });

const print = (value: unknown): void => console.log(JSON.stringify(value));

const spin = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end) createHash('sha1').update('x').digest();
};

/** The loop is busy until who looks has seen it, however late that is. The time of the test is the bound. */
const spinUntil = (isSeen: () => boolean, leastMs: number): void => {
  spin(leastMs);
  while (!isSeen()) spin(20);
};

const PRESSURE = 40;

const programs: Record<string, (argument: string) => unknown> = {
  // Many objects that live for a while.
  async gc() {
    const lane = startLane();
    const startMs = Date.now();
    for (let round = 0; round < PRESSURE; round++) {
      const kept = Array.from({ length: 50_000 }, (_, i) => ({ i, text: `text ${i}` }));
      await sleep(1);
      if (kept.length === 0) throw new Error('nothing was made');
    }
    const rows = lane.rows().filter(({ kind }) => kind === 'gc');
    print({ rows, startMs, endMs: Date.now() });
    lane.stop();
  },
  // A heap that grows makes V8 look through all that is alive, step by step in turns of its own.
  async native() {
    const lane = startLane({ busyMs: 1 });
    const live = Array.from({ length: 1_000_000 }, (_, i) => ({ i, next: { i } }));
    await sleep(50);
    setTimeout(() => spin(20), 1);
    await sleep(50);
    const busy = (): LaneRow[] => lane.rows().filter(({ kind }) => kind === 'busy');
    const isNative = ({ parts }: LaneRow): boolean => parts.some(({ frames }) => frames.includes('(no JavaScript)'));
    const kept: object[] = [];
    for (let round = 0; round < 100 && !busy().some(isNative); round++) {
      kept[round % 4] = Array.from({ length: 300_000 }, (_, i) => ({ i, next: { i } }));
      await sleep(100);
    }
    print({ busy: busy(), natives: busy().filter(isNative), live: live.length + kept.length });
    lane.stop();
  },
  async idle() {
    const lane = startLane();
    await sleep(50);
    const sinceUs = Date.now() * 1000;
    await sleep(500);
    print({ busy: lane.rows().filter((row) => row.kind === 'busy' && row.startUs > sinceUs), stats: lane.stats() });
    lane.stop();
  },
  // Shorter than what is kept, one after the other.
  async short() {
    const lane = startLane({ busyMs: 40 });
    await sleep(20);
    const sinceUs = Date.now() * 1000;
    // Others' work on a busy machine makes some turns long.
    let long = 0;
    for (let i = 0; i < 20; i++) {
      const began = performance.now();
      spin(6);
      await new Promise(setImmediate);
      if (performance.now() - began > 35) long++;
    }
    print({ rows: lane.rows().filter((row) => row.kind === 'busy' && row.startUs > sinceUs).length, long });
    lane.stop();
  },
  async bound() {
    const lane = startLane({ busyMs: 2, maxRows: 4 });
    // The first stretch is a turn of its own: one that began before the lane may not count.
    await sleep(20);
    for (let i = 0; i < 10; i++) {
      spin(4);
      await sleep(1);
    }
    const rows = lane.rows();
    print({ rows, stats: lane.stats() });
    lane.stop();
  },
  // What goes on is there too.
  async open() {
    const lane = startLane();
    await sleep(20);
    const span = Span.root('open');
    const busy = (): LaneRow[] => lane.rows().filter(({ kind }) => kind === 'busy');
    const rows = span.run(() => {
      spinUntil(
        () =>
          busy()
            .at(-1)
            ?.parts.some(({ name }) => name === 'open') ?? false,
        150,
      );
      return busy();
    });
    span.end();
    await sleep(5);
    print({ during: rows.at(-1), after: lane.rows().filter(({ kind }) => kind === 'busy') });
    lane.stop();
  },
  async twice() {
    const first = startLane();
    const second = startLane({ maxRows: 10 });
    first.stop();
    first.stop();
    const { source } = second.stats();
    second.stop();
    const third = startLane();
    await sleep(20);
    const hasParts = (): boolean => third.rows().some((row) => row.parts.length > 0);
    spinUntil(hasParts, 150);
    await sleep(5);
    const found = hasParts();
    third.stop();
    print({ source, stopped: second.stats().source, found });
  },
  async worker() {
    const lane = startLane();
    const worker = new Worker(new URL(import.meta.url), { argv: ['in-worker'] });
    const found = await new Promise((resolve) => worker.once('message', resolve));
    await worker.terminate();
    print({ found, main: lane.stats().source });
    lane.stop();
  },
  async 'in-worker'() {
    if (isMainThread) throw new Error('this is for a worker');
    const lane = startLane();
    spin(30);
    await sleep(5);
    const found = { source: lane.stats().source, rows: lane.rows().length };
    lane.stop();
    parentPort?.postMessage(found);
  },
  // Ends by itself: nothing is stopped, nothing waits for the lane.
  end() {
    startLane();
    print('end');
  },
  exit(code) {
    startLane();
    const span = Span.root('exit');
    span.run(() => {
      setTimeout(() => {
        spin(10 + Math.random() * 20);
        process.exit(Number(code));
      }, 5);
    });
  },
  throw() {
    startLane();
    setTimeout(() => {
      spin(20);
      throw new Error('thrown on purpose');
    }, 5);
  },
  // Async work of all kinds with contexts of two stores; what it computes and which spans it sees is printed, and depends on the seed alone.
  async mixed(lane) {
    const own = lane === 'on' ? startLane({ busyMs: 1 }) : undefined;
    const store = new AsyncLocalStorage<number>();
    let seed = 12345;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
      return (seed >>> 8) % below;
    };
    const names = (): string => `${Span.current()?.name ?? '-'}/${store.getStore() ?? '-'}`;
    const work = async (id: number, kinds: readonly number[]): Promise<string> => {
      const span = Span.root(`job ${id}`);
      const seen = await span.run(() =>
        store.run(id, async () => {
          const found: string[] = [];
          for (const kind of kinds) {
            if (kind === 0) await sleep(1);
            else if (kind === 1) await new Promise(setImmediate);
            else if (kind === 2) await readFile(new URL(import.meta.url));
            else if (kind === 3) await new Promise<void>((resolve) => process.nextTick(resolve));
            else if (kind === 4) LocalSpan.start('local').end();
            else if (kind === 5) spin(5);
            else JSON.parse(JSON.stringify(Array.from({ length: 20_000 }, (_, i) => ({ i }))));
            found.push(`${kind}:${names()}`);
          }
          return found.join(' ');
        }),
      );
      span.end();
      return seen;
    };
    const jobs = Array.from({ length: 40 }, (_, id) =>
      work(
        id,
        Array.from({ length: 12 }, () => random(7)),
      ),
    );
    const seen = await Promise.all(jobs);
    const samples = own?.stats().samples;
    own?.stop();
    print({
      digest: createHash('sha1').update(seen.join('\n')).digest('hex'),
      outside: names(),
      seen: seen[0],
      samples,
    });
  },
};

const [name, argument] = process.argv.slice(2);
await programs[name](argument);
