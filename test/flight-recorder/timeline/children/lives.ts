// Programs whose life the timeline must not change: one for each argument. Each prints what the test asks.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { monitorEventLoop, type TimelineRow } from '../../../../src/flight-recorder/index.js';
import { LocalSpan, Span, setReporter } from '../../../../src/index.js';

setReporter({ name: 'nowhere', report: () => {} });

const print = (value: unknown): void => console.log(JSON.stringify(value));

const spin = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end) createHash('sha1').update('x').digest();
};

/** The loop is busy until who looks has seen it, however late that is. The time of the test is the bound. */
const spinUntil = (isSeen: () => boolean, minMs: number): void => {
  spin(minMs);
  while (!isSeen()) spin(20);
};

const PRESSURE = 40;

const programs: Record<string, (argument: string) => unknown> = {
  // Many objects that live for a while.
  async gc() {
    const timeline = monitorEventLoop();
    const startMs = Date.now();
    for (let round = 0; round < PRESSURE; round++) {
      const kept = Array.from({ length: 50_000 }, (_, i) => ({ i, text: `text ${i}` }));
      await sleep(1);
      if (kept.length === 0) throw new Error('nothing was made');
    }
    const rows = timeline.rows().filter(({ kind }) => kind === 'gc');
    print({ rows, startMs, endMs: Date.now() });
    timeline.stop();
  },
  // A heap that grows makes V8 look through all that is alive, step by step in turns of its own.
  async native() {
    const timeline = monitorEventLoop({ busyMs: 1 });
    const live = Array.from({ length: 1_000_000 }, (_, i) => ({ i, next: { i } }));
    await sleep(50);
    setTimeout(() => spin(20), 1);
    await sleep(50);
    const busy = (): TimelineRow[] => timeline.rows().filter(({ kind }) => kind === 'busy');
    const isNative = ({ parts }: TimelineRow): boolean =>
      parts.some(({ frames }) => frames.includes('(no JavaScript)'));
    const kept: object[] = [];
    for (let round = 0; round < 100 && !busy().some(isNative); round++) {
      kept[round % 4] = Array.from({ length: 300_000 }, (_, i) => ({ i, next: { i } }));
      await sleep(100);
    }
    print({ busy: busy(), natives: busy().filter(isNative), live: live.length + kept.length });
    timeline.stop();
  },
  async idle() {
    const timeline = monitorEventLoop();
    await sleep(50);
    const sinceUs = Date.now() * 1000;
    await sleep(500);
    print({
      busy: timeline.rows().filter((row) => row.kind === 'busy' && row.startUs > sinceUs),
      stats: timeline.stats(),
    });
    timeline.stop();
  },
  // Shorter than what is kept, one after the other.
  async short() {
    const timeline = monitorEventLoop({ busyMs: 40 });
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
    print({ rows: timeline.rows().filter((row) => row.kind === 'busy' && row.startUs > sinceUs).length, long });
    timeline.stop();
  },
  async bound() {
    const timeline = monitorEventLoop({ busyMs: 2, maxRows: 4 });
    // The first stretch is a turn of its own: one that began before the timeline may not count.
    await sleep(20);
    for (let i = 0; i < 10; i++) {
      spin(4);
      await sleep(1);
    }
    const rows = timeline.rows();
    print({ rows, stats: timeline.stats() });
    timeline.stop();
  },
  // What goes on is there too.
  async open() {
    const timeline = monitorEventLoop();
    await sleep(20);
    const span = Span.root('open');
    const busy = (): TimelineRow[] => timeline.rows().filter(({ kind }) => kind === 'busy');
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
    print({ during: rows.at(-1), after: timeline.rows().filter(({ kind }) => kind === 'busy') });
    timeline.stop();
  },
  async twice() {
    const first = monitorEventLoop();
    const second = monitorEventLoop({ maxRows: 10 });
    first.stop();
    first.stop();
    const { source } = second.stats();
    second.stop();
    const third = monitorEventLoop();
    await sleep(20);
    const hasParts = (): boolean => third.rows().some((row) => row.parts.length > 0);
    spinUntil(hasParts, 150);
    await sleep(5);
    const found = hasParts();
    third.stop();
    print({ source, stopped: second.stats().source, found });
  },
  async worker() {
    const timeline = monitorEventLoop();
    const worker = new Worker(new URL(import.meta.url), { argv: ['in-worker'] });
    const found = await new Promise((resolve) => worker.once('message', resolve));
    await worker.terminate();
    print({ found, main: timeline.stats().source });
    timeline.stop();
  },
  async 'in-worker'() {
    if (isMainThread) throw new Error('this is for a worker');
    const timeline = monitorEventLoop();
    spin(30);
    await sleep(5);
    const found = { source: timeline.stats().source, rows: timeline.rows().length };
    timeline.stop();
    parentPort?.postMessage(found);
  },
  // Ends by itself: nothing is stopped, nothing waits for the timeline.
  end() {
    monitorEventLoop();
    print('end');
  },
  exit(code) {
    monitorEventLoop();
    const span = Span.root('exit');
    span.run(() => {
      setTimeout(() => {
        spin(10 + Math.random() * 20);
        process.exit(Number(code));
      }, 5);
    });
  },
  throw() {
    monitorEventLoop();
    setTimeout(() => {
      spin(20);
      throw new Error('thrown on purpose');
    }, 5);
  },
  // Async work of all kinds with contexts of two stores; what it computes and which spans it sees is printed, and depends on the seed alone.
  async mixed(timeline) {
    const own = timeline === 'on' ? monitorEventLoop({ busyMs: 1 }) : undefined;
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
