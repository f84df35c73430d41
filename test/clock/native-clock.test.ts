// Decisions about tsc-percpu, on a machine whose counters the test sets: when it calibrates, what it gives up, and that a
// fast call that cannot be had costs nothing but speed.
import { expect, test } from 'vitest';
import type { FastCall } from '../../src/clock/binding.js';
import { NativeClockState } from '../../src/clock/clock.js';
import { FakeMachine } from './support/fake-machine.js';

// tsc-percpu is chosen on Linux alone, on this machine too.
const onLinux = test.runIf(process.platform === 'linux');

const NS_PER_TICK = 0.4;
const twoCores = (): FakeMachine =>
  new FakeMachine({ ticks: 1e9, nsPerTick: NS_PER_TICK }, { ticks: 7e9, nsPerTick: NS_PER_TICK });
const start = (machine: FakeMachine, fast?: FastCall) => new NativeClockState(machine, fast, 'tsc-percpu');

onLinux('the offsets of all cores are published, and shown against the first', () => {
  const machine = twoCores();
  const clock = start(machine);
  expect(clock.source).toBe('tsc-percpu');
  expect(machine.published).toHaveLength(1);
  machine.pass(1e9);
  expect(clock.cores).toMatchObject([
    { cpu: 0, offsetNs: 0, errorNs: 0 },
    { cpu: 1, offsetNs: expect.closeTo(6e9 * NS_PER_TICK, 0) },
  ]);
});

onLinux('a second thread takes over what the first has published', () => {
  const machine = twoCores();
  start(machine);
  const { rounds } = machine;
  const second = start(machine);
  expect([second.source, machine.rounds - rounds]).toEqual(['tsc-percpu', 0]);
  expect(second.cores).toHaveLength(2);
});

onLinux('refined after a second, then each minute, by one thread of the process', () => {
  const machine = twoCores();
  const threads = [start(machine), start(machine)];
  for (let second = 0; second < 200; second++) {
    machine.pass(1e9);
    for (const thread of threads) thread.check();
  }
  // Start, the first second, and after 60, 120 and 180 seconds.
  expect(machine.published).toHaveLength(5);
});

onLinux('after a jump the cores are measured anew, not across it', () => {
  const machine = twoCores();
  const clock = start(machine);
  machine.pass(2e9);
  clock.check();
  // A suspend: CLOCK_MONOTONIC stands still while the counters go on.
  for (const core of machine.cores.values()) core.ticks += 60e9;
  machine.pass(1e9);
  const before = machine.published.length;
  clock.check();
  expect(clock.rate?.recalibrations).toBe(1);
  expect(machine.published.length).toBe(before + 1);
  expect(machine.published.at(-1)?.nsPerTick).toBeCloseTo(NS_PER_TICK, 6);
});

onLinux('a core that comes later is known after two checks', () => {
  const machine = twoCores();
  const clock = start(machine);
  machine.pass(2e9);
  machine.cores.set(5, { ticks: 3e9, nsPerTick: NS_PER_TICK });
  for (let i = 0; i < 2; i++) {
    clock.check();
    machine.pass(1e9);
  }
  expect(clock.cores.map(({ cpu }) => cpu)).toEqual([0, 1, 5]);
});

onLinux('one spoilt round is tried again', () => {
  const machine = twoCores();
  const { pairPerCpu } = machine;
  machine.pairPerCpu = () => {
    const pairs = pairPerCpu();
    // The second core was preempted for 50 us in the first round.
    if (machine.rounds === 1) pairs[5] -= 50_000 / NS_PER_TICK;
    return pairs;
  };
  expect(start(machine).source).toBe('tsc-percpu');
});

onLinux('cores that disagree mean CLOCK_MONOTONIC, for threads to come as well', () => {
  const machine = new FakeMachine({ ticks: 1e9, nsPerTick: 0.4 }, { ticks: 1e9, nsPerTick: 0.5 });
  const [first, second] = [start(machine), start(machine)];
  expect([first.source, first.nsPerTick]).toEqual(['monotonic', 1]);
  expect(first.reasons.join()).toContain('do not agree');
  expect([second.source, second.nsPerTick]).toEqual(['monotonic', 1]);
  expect(machine.published).toEqual([]);
});

onLinux('a thread whose calibration fails uses that of another one', () => {
  const machine = twoCores();
  const { pairPerCpu } = machine;
  machine.pairPerCpu = () => {
    // The other thread publishes while this one still measures.
    if (machine.rounds === 1) machine.publish([0, 0, 0], machine.monoNs, machine.now(), NS_PER_TICK);
    return machine.rounds === 0 ? pairPerCpu() : [];
  };
  expect(start(machine).source).toBe('tsc-percpu');
});

onLinux('no core that can be pinned is said to be that', () => {
  const machine = twoCores();
  machine.pairPerCpu = () => [];
  const clock = start(machine);
  expect(clock.source).toBe('monotonic');
  expect(clock.reasons.join()).toContain('pinned');
});

test.each<[string, FastCall['wrap']]>([
  [
    'throws',
    () => {
      throw new TypeError('no such layout');
    },
  ],
  ['refuses', () => undefined],
])('a fast call that %s leaves Node-API', (_, wrap) => {
  const machine = twoCores();
  const clock = new NativeClockState(machine, { wrap, slowCalls: () => 0 }, 'monotonic');
  expect([clock.path, clock.now]).toEqual(['napi', machine.now]);
  expect(clock.reasons.join()).toContain('fast-call');
});
