// Plants causes of busy stretches, one after the other, and prints the timeline. Its turns have nothing else in them.
import { setTimeout as sleep } from 'node:timers/promises';
import vm from 'node:vm';
import { monitorEventLoop, type TimelineRow } from '../../../../src/flight-recorder/index.js';
import { Span, setReporter } from '../../../../src/index.js';

setReporter({ name: 'nowhere', report: () => {} });

const spin = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

const big = JSON.stringify(Array.from({ length: 300_000 }, (_, i) => ({ i, a: `x${i}` })));
const ids: Record<string, string> = {};
const spans: Span[] = [];
const root = (name: string): Span => {
  const span = Span.root(name);
  const { traceId = '', spanId = '' } = span.context ?? {};
  ids[name] = `${traceId} ${spanId}`;
  spans.push(span);
  return span;
};

const timeline = monitorEventLoop();

const causes: Record<string, () => unknown> = {
  sync: () => root('sync').run(() => spin(200)),
  'after an await': () =>
    root('after an await').run(async () => {
      await sleep(5);
      spin(200);
      await sleep(5);
    }),
  untraced: () =>
    setTimeout(function busyTimer() {
      spin(200);
    }, 1),
  parse: () => root('parse').run(() => (JSON.parse(big) as unknown[]).length),
  'parse after an await': () =>
    root('parse after an await').run(async () => {
      await sleep(5);
      const { length } = JSON.parse(big) as unknown[];
      await sleep(5);
      return length;
    }),
  regex: () => root('regex').run(() => /^(a+)+$/.test(`${'a'.repeat(24)}!`)),
  // What comes next in the same turn must not be blamed for what came last before it.
  'two timers': () => {
    root('first timer').run(() => setTimeout(() => JSON.parse(big), 5));
    root('second timer').run(() => setTimeout(() => String(Math.random()), 5));
  },
  'two microtasks': () => {
    const gate = sleep(5);
    void root('first microtask').run(async () => {
      await gate;
      JSON.parse(big);
    });
    void root('second microtask').run(async () => {
      await gate;
      return String(parseFloat('1.5') + performance.now());
    });
  },
  'two ticks': () => {
    root('first tick').run(() => process.nextTick(() => JSON.parse(big)));
    root('second tick').run(() => process.nextTick(() => String(performance.now())));
  },
  waiting: () => root('waiting').run(() => sleep(60)),
  'time of a script': () => {
    try {
      root('time of a script').run(() => vm.runInNewContext('for (;;);', {}, { timeout: 100 }));
    } catch (error) {
      ids.timedOut = (error as { code: string }).code;
    }
  },
  recursion: () => {
    const down = (n: number): number => (n === 0 ? 0 : 1 + down(n - 1));
    const end = performance.now() + 200;
    root('recursion').run(() => {
      while (performance.now() < end) down(5000);
    });
  },
  overflow: () => {
    const forever = (n: number): number => 1 + forever(n);
    const end = performance.now() + 200;
    let caught = 0;
    root('overflow').run(() => {
      while (performance.now() < end) {
        try {
          forever(0);
        } catch {
          caught++;
        }
      }
    });
    ids.overflows = String(caught > 0);
  },
};

const stretches: Record<string, unknown> = {};
await sleep(50);
for (const [name, cause] of Object.entries(causes)) {
  const seen = timeline.rows().at(-1)?.endUs ?? 0;
  // In a turn of its own.
  setImmediate(cause);
  await sleep(500);
  stretches[name] = timeline.rows().filter((row) => row.kind === 'busy' && row.startUs > seen);
}
for (const span of spans) span.end();
const stats = timeline.stats();
// From the middle of a stretch on.
const shapeOf = ({ kind, detail, endUs, startUs, parts }: TimelineRow) => ({
  what: `${kind} ${detail} ${parts.length}`,
  us: endUs - startUs,
});
// The stretch of now goes on between two questions: only what had begun before a pause is compared.
const pausedUs = Date.now() * 1000;
await sleep(30);
const settled = (rows: readonly TimelineRow[]): TimelineRow[] => rows.filter(({ startUs }) => startUs < pausedUs);
const all = settled(timeline.rows());
const longest = all.reduce((one, other) => (other.endUs - other.startUs > one.endUs - one.startUs ? other : one));
const middleUs = (longest.startUs + longest.endUs) / 2;
const since = {
  asked: settled(timeline.rows(middleUs)).map(shapeOf),
  filtered: all.filter(({ endUs }) => endUs > middleUs).map(shapeOf),
  all: all.length,
};
timeline.stop();
const after = { source: timeline.stats().source, rows: timeline.rows().length };
console.log(JSON.stringify({ stretches, ids, stats, since, after }));
