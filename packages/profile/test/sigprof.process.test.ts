// The signal handler stands before V8's only while it is wanted, keeps its notes within bounds, and gives the signal back.
import { Session } from 'node:inspector';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadSigprof, type Sigprof } from '../src/sigprof.js';
import { busyWork } from './support/busy-work.js';

const { module } = loadSigprof();
const ROWS = 4096;

describe.runIf(module !== undefined)('native/sigprof', () => {
  const sigprof = module as Sigprof;
  const cell = new Int32Array(new SharedArrayBuffer(64));
  let session: Session;
  const post = (method: string): void => session.post(method);
  beforeEach(() => {
    session = new Session();
    session.connect();
    post('Profiler.enable');
  });
  afterEach(() => {
    session.disconnect();
    sigprof.detach();
  });
  const drained = (): number[][] => {
    const out = new Float64Array(ROWS * 4);
    const rows = sigprof.drain(out);
    return Array.from({ length: rows }, (_, i) => [...out.subarray(i * 4, i * 4 + 4)]);
  };
  const work = (ms: number): void => {
    const end = performance.now() + ms;
    while (performance.now() < end) busyWork(50);
  };

  test('there is nothing to stand before until V8 profiles', () => {
    expect(sigprof.handler()).toBe('');
    expect(sigprof.attach(cell, ROWS)).toBe(true);
    expect(sigprof.chain()).toBe(false);
    expect(sigprof.handler()).toBe('');
  });

  test('chained and unchained, again and again, V8 has its handler back', () => {
    sigprof.attach(cell, ROWS);
    for (let round = 0; round < 3; round++) {
      post('Profiler.start');
      expect(sigprof.handler()).toBe('v8');
      expect([sigprof.chain(), sigprof.chain(), sigprof.handler()]).toEqual([true, true, 'spanline']);
      expect([sigprof.unchain(), sigprof.handler()]).toEqual([true, 'v8']);
      sigprof.chain();
      post('Profiler.stop');
      expect([sigprof.unchain(), sigprof.handler()]).toEqual([true, '']);
    }
  });

  test('notes say the label at each sample, in order of time', () => {
    sigprof.attach(cell, ROWS);
    post('Profiler.start');
    sigprof.chain();
    const notes: number[][] = [];
    for (const label of [7, 9]) {
      cell[0] = label;
      while (notes.at(-1)?.[0] !== label) {
        work(5);
        notes.push(...drained());
      }
    }
    post('Profiler.stop');
    const labels = notes.map(([label]) => label);
    expect(labels).toEqual([...labels].sort((a, b) => a - b));
    notes.forEach(([, from, to, cpu], i) => {
      expect(to).toBeGreaterThanOrEqual(from);
      if (i === 0) return;
      expect(from).toBeGreaterThanOrEqual(notes[i - 1][2]);
      expect(cpu).toBeGreaterThanOrEqual(notes[i - 1][3]);
    });
    expect(sigprof.threadCpuNs()).toBeGreaterThanOrEqual(notes.at(-1)?.[3] ?? 0);
  });

  test('a full ring refuses what comes, counts it and keeps what it has', () => {
    sigprof.attach(cell, 8);
    post('Profiler.start');
    sigprof.chain();
    cell[0] = 1;
    while (sigprof.refused() === 0) work(5);
    post('Profiler.stop');
    expect(drained()).toHaveLength(8);
  });

  test('one cell a thread; a capacity that is not a power of two, or an empty cell, is refused', () => {
    expect(sigprof.attach(cell, 12)).toBe(false);
    expect(sigprof.attach(cell, 2 ** 21)).toBe(false);
    expect(sigprof.attach(new Int32Array(0), ROWS)).toBe(false);
    expect(sigprof.attach(cell, ROWS)).toBe(true);
    expect(sigprof.attach(cell, ROWS)).toBe(false);
  });

  test('detached in the middle of a profile, V8 samples on and nothing is noted', () => {
    sigprof.attach(cell, ROWS);
    post('Profiler.start');
    sigprof.chain();
    sigprof.detach();
    work(20);
    expect(sigprof.handler()).toBe('v8');
    post('Profiler.stop');
    expect(drained()).toEqual([]);
  });

  test('a stranger before ours is seen and left in place', () => {
    sigprof.attach(cell, ROWS);
    post('Profiler.start');
    sigprof.chain();
    const listener = (): void => undefined;
    process.on('SIGPROF', listener);
    expect(sigprof.handler()).toBe("process.on('SIGPROF')");
    expect(sigprof.unchain()).toBe(false);
    expect(sigprof.handler()).toBe("process.on('SIGPROF')");
    post('Profiler.stop');
    process.off('SIGPROF', listener);
  });
});
