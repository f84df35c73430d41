// Work that samples can be told by, and how many of its samples bear a label.
import { runInNewContext } from 'node:vm';
import { expect } from 'vitest';
import { type LabelledProfile, SampleKind } from '../../src/index.js';
import { countSamples } from '../../src/labelled-profile.js';
import { isByChance, isEntered } from './chance.js';
import { tooLongFor } from './never-inlined.js';

/** Inlined nowhere, so that its samples have its name; another context alone does not stop Maglev. */
export const busyWork = runInNewContext(
  `(function busyWork(units) { ${tooLongFor('units')} let x = 0; for (let i = 0; i < units * 100; i++) x += Math.sqrt(i); return x; })`,
) as (units: number) => number;

/** Never the same twice, so that no rhythm meets that of the sampler. */
export const jitter = (units: number): number => Math.ceil(units * (0.5 + Math.random()));

export interface WorkSamples {
  readonly all: number;
  /** Samples by the value of the key; '' where they have none. */
  readonly byValue: Readonly<Record<string, number>>;
}

/** True for a sample inside {@link busyWork}. */
export const isWork = ({ samples, nodes }: LabelledProfile, i: number): boolean =>
  nodes.functionName[samples.node[i]] === 'busyWork' && samples.kind[i] === SampleKind.js;

/** The profile of {@link busyWork} alone. */
export const ofWork = (profile: LabelledProfile): LabelledProfile => {
  const rows = Array.from({ length: profile.samples.count }, (_, i) => i).filter((i) => isWork(profile, i));
  const { node, atNs, cpuNs, label, kind } = profile.samples;
  const samples = {
    count: rows.length,
    node: Uint32Array.from(rows, (i) => node[i]),
    atNs: Float64Array.from(rows, (i) => atNs[i]),
    cpuNs: Float64Array.from(rows, (i) => cpuNs[i]),
    label: Uint32Array.from(rows, (i) => label[i]),
    kind: Uint8Array.from(rows, (i) => kind[i]),
  };
  return { ...profile, samples, counts: countSamples(samples) };
};

/** The samples inside {@link busyWork}. */
export const workSamples = (profile: LabelledProfile, key: string): WorkSamples => {
  const { samples, labels } = profile;
  const byValue: Record<string, number> = {};
  let all = 0;
  for (let i = 0; i < samples.count; i++) {
    if (!isWork(profile, i)) continue;
    all++;
    const value = String(labels[samples.label[i]][key] ?? '');
    byValue[value] = (byValue[value] ?? 0) + 1;
  }
  return { all, byValue };
};

/** No sample of the work bears another value of the key than this one, and hardly any bears none. */
export const expectAll = (profile: LabelledProfile, key: string, value: string): void => {
  const { all, byValue } = workSamples(profile, key);
  const { '': untold = 0, [value]: right = 0, ...wrong } = byValue;
  expect(wrong).toEqual({});
  expect(right).toBeGreaterThan(0);
  expect(isEntered(untold, all), `${untold} of ${all} samples bear no ${key}`).toBe(true);
};

/** Samples of the work as its values had it done, as near as chance allows, and hardly any without a value. */
export const expectShares = (profile: LabelledProfile, key: string, done: ReadonlyMap<string, number>): void => {
  const { all, byValue } = workSamples(profile, key);
  const untold = byValue[''] ?? 0;
  expect(isEntered(untold, all), `${untold} of ${all} samples bear no ${key}`).toBe(true);
  const sum = [...done.values()].reduce((a, b) => a + b);
  expect(Object.keys(byValue).filter((value) => value !== '' && !done.has(value))).toEqual([]);
  for (const [value, units] of done) {
    const found = byValue[value] ?? 0;
    const share = units / sum;
    expect(isByChance(found, all, share), `${value}: ${found} of ${all} samples, of a share of ${share}`).toBe(true);
  }
};

/** Every sample counted once, and every column as long as it says. */
export const isConserved = ({ counts, samples, labels, nodes }: LabelledProfile): boolean => {
  const { total, ...rest } = counts;
  const sum = Object.values(rest).reduce((a, b) => a + b, 0);
  const columns = [samples.node, samples.atNs, samples.cpuNs, samples.label, samples.kind];
  return (
    sum === total &&
    total === samples.count &&
    columns.every((column) => column.length === samples.count) &&
    samples.label.every((row) => row < labels.length) &&
    samples.node.every((row) => row < nodes.count) &&
    samples.atNs.every((ns, i) => ns >= (i === 0 ? 0 : samples.atNs[i - 1])) &&
    nodes.parent.every((parent, row) => parent < row)
  );
};

/** Works for so long on the CPU, however long that takes beside other programs: so many milliseconds bring about as many samples each time. */
export const busyFor = (cpuMs: number, work: () => void = () => void busyWork(jitter(20))): void => {
  const start = process.cpuUsage();
  for (;;) {
    work();
    const { user, system } = process.cpuUsage(start);
    if (user + system >= cpuMs * 1000) return;
  }
};

/** The same with small pieces that an await follows. */
export const busyAcrossAwaits = async (
  cpuMs: number,
  work: () => unknown = () => busyWork(jitter(50)),
): Promise<void> => {
  const start = process.cpuUsage();
  for (;;) {
    await work();
    const { user, system } = process.cpuUsage(start);
    if (user + system >= cpuMs * 1000) return;
  }
};

const LONGEST_MS = 60_000;

/** A profile with at least so many samples of {@link busyWork}: each try takes twice as long as the one before, so that one has them. */
export const withSamples = async (
  min: number,
  take: (cpuMs: number) => LabelledProfile | Promise<LabelledProfile>,
): Promise<LabelledProfile> => {
  for (let cpuMs = Math.max(20, min); ; cpuMs *= 2) {
    const profile = await take(cpuMs);
    if (workSamples(profile, '').all >= min) return profile;
    if (cpuMs > LONGEST_MS) throw new Error(`fewer than ${min} samples in ${cpuMs} ms`);
  }
};
