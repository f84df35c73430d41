// Parts are made of samples, and say no more than these prove.
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { namedStack, type RawFrames, shownFrames, stackName } from '../../../src/flight-recorder/timeline/frames.js';
import { PartRing } from '../../../src/flight-recorder/timeline/native-rings.js';
import { Collector, Span } from '../../../src/index.js';
import { SpanQueue } from '../../../src/local-span/local-span.js';

const GAP = 12;
const APP: RawFrames = ['inner', '/srv/app.js', 3, 'handle', '/srv/app.js', 10, 'run', 'node:events', 5];
const OTHER: RawFrames = ['poll', '/srv/poll.js', 1];
const NODES: RawFrames = ['listOnTimeout', 'node:internal/timers', 1];
/** A function of this library around what it is called for. */
const OURS: RawFrames = [
  'watched',
  fileURLToPath(new URL('../../../src/instrument/on-module.ts', import.meta.url)),
  59,
];

const collector = new Collector();
const queueOf = (name: string): SpanQueue => new SpanQueue(Span.root(name, undefined, { collector }), true);

const sampled = (requestedNs: number, servedNs: number, how: object = {}) => ({
  turn: 1,
  requestedNs,
  servedNs,
  isSame: true,
  isGoingOn: false,
  frames: APP,
  ...how,
});

const shown = (ring: PartRing, turn = 1): string[] =>
  (ring.byTurn().get(turn) ?? []).map(({ startNs, endNs, owner }) => `${startNs}-${endNs} ${owner.name}`);

describe('parts', () => {
  const a = queueOf('a');
  const b = queueOf('b');

  test('neighbours of one span are one part, of two spans two with a gap', () => {
    const ring = new PartRing(10, GAP);
    ring.add(sampled(10, 11), a);
    ring.add(sampled(15, 17), a);
    ring.add(sampled(20, 30), b);
    expect(shown(ring)).toEqual(['10-17 a', '20-30 b']);
  });

  test('neighbours too far apart are two, but in one task', () => {
    const ring = new PartRing(10, GAP);
    ring.add(sampled(10, 11), a);
    ring.add(sampled(24, 25), a);
    ring.add(sampled(60, 61, { isGoingOn: true }), a);
    expect(shown(ring)).toEqual(['10-11 a', '24-61 a']);
  });

  test('a sample of which it is not known since when proves no length', () => {
    const ring = new PartRing(10, GAP);
    ring.add(sampled(10, 50, { isSame: false }), a);
    expect(shown(ring)).toEqual([]);
    ring.add(sampled(54, 55), a);
    expect(shown(ring)).toEqual(['50-55 a']);
    expect(ring.unknown).toBe(1);
  });

  test('parts end with their turn', () => {
    const ring = new PartRing(10, GAP);
    ring.add(sampled(10, 11), a);
    ring.add(sampled(12, 13, { turn: 2 }), a);
    expect([shown(ring, 1), shown(ring, 2)]).toEqual([['10-11 a'], ['12-13 a']]);
  });

  test('without a span the outermost function of the program tells them apart', () => {
    const ring = new PartRing(10, GAP);
    ring.add(sampled(10, 11), undefined);
    ring.add(sampled(14, 15, { frames: ['else', '/srv/b.js', 1, ...APP.slice(3)] }), undefined);
    ring.add(sampled(18, 19, { frames: OTHER }), undefined);
    expect(shown(ring)).toEqual(['10-15 ', '18-19 ']);
  });

  test('two functions of the program within one of this library are two', () => {
    const ring = new PartRing(10, GAP);
    ring.add(sampled(10, 11, { frames: [...APP.slice(0, 6), ...OURS, ...NODES] }), undefined);
    ring.add(sampled(14, 15, { frames: [...OTHER, ...OURS, ...NODES] }), undefined);
    expect(shown(ring)).toEqual(['10-11 ', '14-15 ']);
    // What it does by itself is known to be its own.
    ring.add(sampled(18, 19, { frames: [...OURS, ...NODES] }), undefined);
    ring.add(sampled(22, 23, { frames: [...OURS, ...NODES] }), undefined);
    expect(shown(ring).slice(2)).toEqual(['18-23 ']);
  });

  test("Node's own code alone says nothing, and parts what is around it", () => {
    const ring = new PartRing(10, GAP);
    ring.add(sampled(10, 11), a);
    ring.add(sampled(12, 13, { frames: NODES }), undefined);
    ring.add(sampled(14, 15), a);
    expect(shown(ring)).toEqual(['10-11 a', '14-15 a']);
    expect(ring.unknown).toBe(1);
  });

  test('the function that most samples were in is shown', () => {
    const ring = new PartRing(10, GAP);
    for (const [at, frames] of [APP, OTHER, OTHER, OTHER].entries()) {
      ring.add(sampled(10 + 4 * at, 11 + 4 * at, { frames }), a);
    }
    const [part] = ring.byTurn().get(1) ?? [];
    expect(shownFrames(part.frames)).toEqual(['poll poll.js:1']);
  });

  test('it keeps the newest and counts the others', () => {
    const ring = new PartRing(2, GAP);
    for (let i = 0; i < 5; i++) ring.add(sampled(10 * i, 10 * i + 1), i % 2 === 0 ? a : b);
    expect(shown(ring)).toEqual(['30-31 b', '40-41 a']);
    expect(ring.dropped).toBe(3);
  });
});

test('frames are shown by function and place, five at most', () => {
  expect(shownFrames(['', 'file:///srv/a.mjs?x=1', 3, 'parse', '', 0, 'run', 'node:events', 5])).toEqual([
    '(anonymous) a.mjs:3',
    'parse',
    'run node:events:5',
  ]);
  expect(shownFrames(Array.from({ length: 9 }, () => APP.slice(0, 3)).flat()).length).toBe(5);
});

test("a function of the program is shown and gives the name, however deep it is in Node's own", () => {
  const deep = Array.from({ length: 7 }, () => NODES).flat();
  const shown = shownFrames([...deep, ...APP]);
  expect(shown).toEqual([...Array(4).fill('listOnTimeout node:internal/timers:1'), 'inner app.js:3']);
  expect(stackName(shown)).toBe('inner app.js:3');
  expect(stackName(['now node:internal/perf/utils:9', 'tick app.js:7'])).toBe('tick app.js:7');
  expect([stackName(shownFrames(NODES)), stackName([])]).toEqual(['listOnTimeout node:internal/timers:1', '']);
});

test('a stack goes by a function of the program, not of Node nor of this library, in whatever copy', () => {
  const installed: RawFrames = ['watched', '/srv/node_modules/spanline/dist/cjs/chunks/instrument.js', 422];
  const inPnpm: RawFrames = [
    'end',
    'file:///srv/node_modules/.pnpm/spanline@1.0.0/node_modules/spanline/dist/esm/a.js',
    1,
  ];
  const path: RawFrames = ['dirname', 'node:path', 1280];
  const shown = shownFrames([...path, ...OURS, ...installed, ...inPnpm, ...NODES, ...APP]);
  expect(shown).toEqual([
    'dirname node:path:1280',
    'watched spanline:on-module.ts:59',
    'watched spanline:instrument.js:422',
    'end spanline:a.js:1',
    'inner app.js:3',
  ]);
  expect([stackName(shown), namedStack(shown)]).toEqual(['inner app.js:3', ['inner app.js:3']]);
  // A package of a like name is the program's.
  expect(stackName(shownFrames(['f', '/srv/node_modules/spanline-like/dist/a.js', 1]))).toBe('f a.js:1');
  expect(stackName(shownFrames(['f', '/srv/spanline/a.js', 1]))).toBe('f a.js:1');
  // Where there is nothing else, the innermost.
  expect(stackName(shownFrames([...OURS, ...NODES]))).toBe('watched spanline:on-module.ts:59');
  expect(stackName(shownFrames([...path, ...OURS, ...NODES]))).toBe('dirname node:path:1280');
});

test("WebAssembly gives no name but where it is alone: Node's own lies below fetch", () => {
  const parser: RawFrames = ['$func10', 'wasm://wasm/0002f80e', 1, 'execute', 'node:internal/deps/undici/undici', 6103];
  const shown = shownFrames([...parser, ...APP]);
  expect(shown.slice(0, 2)).toEqual([
    '$func10 wasm://wasm/0002f80e:1',
    'execute node:internal/deps/undici/undici:6103',
  ]);
  expect(stackName(shown)).toBe('inner app.js:3');
  expect(stackName(shownFrames(parser))).toBe('$func10 wasm://wasm/0002f80e:1');
  const ring = new PartRing(10, GAP);
  ring.add(sampled(10, 11, { frames: parser }), undefined);
  expect(ring.unknown).toBe(1);
});

test('the function that most samples met stays, met inside of a function of Node or not', () => {
  const ring = new PartRing(10, GAP);
  const inside: RawFrames = ['now', 'node:internal/perf/utils', 2, ...APP];
  const other: RawFrames = ['rare', '/srv/app.js', 9, ...APP.slice(3)];
  let at = 0;
  for (const frames of [inside, APP, other, inside, other]) {
    ring.add(sampled(at, at + 1, { frames }), undefined);
    at += 4;
  }
  const [{ frames }] = ring.byTurn().get(1) ?? [];
  expect(frames).toBe(inside);
});
