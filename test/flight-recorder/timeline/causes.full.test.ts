// The timeline names who had the event loop, span or function, and never blames who only waited or came next.
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadFastCall } from '../../../src/clock/binding.js';
import type { TimelineRow, TimelineStats } from '../../../src/flight-recorder/index.js';
import { bundleChild, runFile } from '../../support/child.js';

const MS = 1000;

interface Result {
  readonly stretches: Readonly<Record<string, readonly TimelineRow[]>>;
  readonly ids: Readonly<Record<string, string>>;
  readonly stats: TimelineStats;
  readonly since: { readonly asked: readonly Shape[]; readonly filtered: readonly Shape[]; readonly all: number };
  readonly after: { readonly source: string; readonly rows: number };
}

/** Of a row: what it is, and how long. */
interface Shape {
  readonly what: string;
  readonly us: number;
}

/** Causes that are spans of the same name. */
const NAMED = ['sync', 'after an await', 'parse', 'parse after an await', 'regex', 'recursion'];

const hasAddon = loadFastCall().module?.timelineStart !== undefined;

describe.runIf(hasAddon)('the timeline by the addon', () => {
  let result: Result;

  beforeAll(async () => {
    const file = await bundleChild(fileURLToPath(new URL('./children/causes.ts', import.meta.url)));
    const { code, stdout, stderr } = await runFile(file);
    expect([code, stderr]).toEqual([0, '']);
    result = JSON.parse(stdout) as Result;
  }, 60_000);

  const longest = (cause: string): TimelineRow =>
    [...result.stretches[cause]].sort((a, b) => b.endUs - b.startUs - (a.endUs - a.startUs))[0];

  const busyMsOf = (cause: string, name: string): number =>
    result.stretches[cause]
      .flatMap(({ parts }) => parts)
      .filter((part) => part.name === name)
      .reduce((sum, part) => sum + (part.endUs - part.startUs) / MS, 0);

  const lengthMs = (row: TimelineRow): number => (row.endUs - row.startUs) / MS;

  test.each(NAMED)('%s names its span', (cause) => {
    const row = longest(cause);
    expect(busyMsOf(cause, cause)).toBeGreaterThan(0.3 * lengthMs(row));
    const part = row.parts.find(({ name }) => name === cause);
    expect(`${part?.traceId} ${part?.spanId}`).toBe(result.ids[cause]);
  });

  test('rows since a moment are those that end after it, whole', () => {
    const { asked, filtered, all } = result.since;
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.length).toBeLessThan(all);
    expect(asked.map(({ what }) => what)).toEqual(filtered.map(({ what }) => what));
    // Unix time in microseconds is a double, which is a quarter of one off, and the clock's rate is known better at each look.
    for (const [i, { us }] of asked.entries()) expect(Math.abs(us - filtered[i].us)).toBeLessThan(10);
  });

  test('a stretch in a span is as long as its work', () => {
    expect(lengthMs(longest('sync'))).toBeGreaterThanOrEqual(199.9);
    expect(lengthMs(longest('after an await'))).toBeGreaterThanOrEqual(199.9);
  });

  test('work that no span covers is named by its functions, and has no span', () => {
    const row = longest('untraced');
    expect(lengthMs(row)).toBeGreaterThanOrEqual(199.9);
    expect(busyMsOf('untraced', '')).toBeGreaterThan(40);
    // Of a busy machine the call that set the timer may be there too.
    const [part] = [...row.parts].sort((a, b) => b.endUs - b.startUs - (a.endUs - a.startUs));
    expect([part.traceId, part.spanId]).toEqual(['', '']);
    expect(part.frames.join('\n')).toMatch(/^busyTimer causes\.mjs:\d+$/m);
    expect(part.frames.length).toBeLessThanOrEqual(5);
  });

  test.each(['timer', 'microtask', 'tick'])('the second %s is not blamed for the first one', (what) => {
    expect(lengthMs(longest(`two ${what}s`))).toBeGreaterThan(20);
    expect(busyMsOf(`two ${what}s`, `second ${what}`)).toBeLessThan(5);
  });

  test('a span that waits has no part', () => {
    const parts = Object.values(result.stretches).flatMap((rows) => rows.flatMap((row) => row.parts));
    expect(parts.filter(({ name }) => name === 'waiting')).toEqual([]);
  });

  test('parts are in order, without overlaps, inside their stretch', () => {
    const rows = Object.values(result.stretches).flat();
    expect(rows.some(({ parts }) => parts.length > 0)).toBe(true);
    for (const { startUs, endUs, parts } of rows) {
      let last = startUs;
      for (const part of parts) {
        expect(part.startUs).toBeGreaterThanOrEqual(last);
        expect(part.endUs).toBeGreaterThan(part.startUs);
        last = part.endUs;
      }
      expect(last).toBeLessThanOrEqual(endUs);
    }
  });

  test('the time that a script was given ends it, and a stack may overflow', () => {
    expect(result.ids.timedOut).toBe('ERR_SCRIPT_EXECUTION_TIMEOUT');
    expect(result.ids.overflows).toBe('true');
  });

  test('it counts its samples, and is empty when it has been stopped', () => {
    expect(result.stats.source).toBe('native');
    expect(result.stats.samples).toBeGreaterThan(50);
    expect(result.after).toEqual({ source: 'none', rows: 0 });
  });
});
