// The slope of ticks follows CLOCK_MONOTONIC: it grows more exact, and a drift or a jump is counted and mended.
import { expect, test } from 'vitest';
import { Rate } from '../../src/clock/clock.js';
import type { Pair } from '../../src/clock/clock-types.js';

/** A counter of `hz` that can be made to run differently. */
class FakeCounter {
  monoNs = 1e12;
  ticks = 5e9;
  nsPerTick = 0.4;

  readonly read = (): Pair => ({ cpu: 0, ticks: this.ticks, monoNs: this.monoNs, bracket: 100 });

  pass(ns: number, nsPerTick = this.nsPerTick): void {
    this.monoNs += ns;
    this.ticks += ns / nsPerTick;
  }
}

test('a steady counter has its slope, no drift and no recalibration', () => {
  const counter = new FakeCounter();
  const rate = new Rate(counter.read);
  for (let i = 0; i < 10; i++) {
    counter.pass(1e9);
    rate.check();
  }
  expect(rate.nsPerTick).toBeCloseTo(0.4, 9);
  expect(Math.abs(rate.driftPpm)).toBeLessThan(0.01);
  expect(rate.recalibrations).toBe(0);
});

test('a drift below 100 ppm is followed, one above is calibrated anew and counted', () => {
  const counter = new FakeCounter();
  const rate = new Rate(counter.read);
  counter.pass(1e9);
  rate.check();
  counter.pass(1e9, 0.4 * (1 + 50e-6));
  rate.check();
  expect(rate.recalibrations).toBe(0);
  counter.pass(1e9, 0.4 * (1 + 300e-6));
  rate.check();
  expect(rate.recalibrations).toBe(1);
  expect(rate.nsPerTick).toBeCloseTo(0.4 * (1 + 300e-6), 9);
});

test('a jump is counted, and does not spoil the slope', () => {
  const counter = new FakeCounter();
  const rate = new Rate(counter.read);
  counter.pass(1e9);
  rate.check();
  // A suspend: CLOCK_MONOTONIC stands still while the counter goes on.
  counter.ticks += 60e9;
  counter.pass(1e9);
  rate.check();
  expect(rate.recalibrations).toBe(1);
  expect(rate.nsPerTick).toBeCloseTo(0.4, 6);
  counter.pass(1e9);
  rate.check();
  expect(rate.nsPerTick).toBeCloseTo(0.4, 6);
  expect(rate.recalibrations).toBe(1);
});

test('a machine with another frequency (a migration) is one jump, and its frequency is found', () => {
  const counter = new FakeCounter();
  const rate = new Rate(counter.read);
  counter.pass(1e9);
  rate.check();
  for (let i = 0; i < 3; i++) {
    counter.pass(1e9, 0.3);
    rate.check();
  }
  expect(rate.recalibrations).toBe(1);
  expect(rate.nsPerTick).toBeCloseTo(0.3, 9);
});

test('a counter that was set back is one jump, and the slope is found again', () => {
  const counter = new FakeCounter();
  const rate = new Rate(counter.read);
  counter.ticks = 0;
  counter.pass(1e9);
  rate.check();
  for (let i = 0; i < 3; i++) {
    counter.pass(1e9);
    rate.check();
  }
  expect(rate.recalibrations).toBe(1);
  expect(rate.nsPerTick).toBeCloseTo(0.4, 9);
});

test('checks closer together than the noise of two pairs say nothing', () => {
  const counter = new FakeCounter();
  const rate = new Rate(counter.read);
  counter.pass(1e9);
  rate.check();
  counter.pass(1e6, 0.5);
  rate.check();
  expect(rate.recalibrations).toBe(0);
});

test('right after the start a slope is estimated without a wait, and does not stand for the one that is measured', () => {
  const counter = new FakeCounter();
  const rate = new Rate(counter.read);
  counter.pass(1e5, 0.4 * (1 + 500e-6));
  expect(rate.estimate).toBeCloseTo(0.4 * (1 + 500e-6), 9);
  // Of 2 ms and more: what has passed by now.
  counter.pass(1e9 - 1e5);
  expect(rate.estimate).toBeCloseTo(0.4, 6);
  expect(rate.nsPerTick).toBe(rate.estimate);
});
