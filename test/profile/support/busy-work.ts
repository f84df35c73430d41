// Work that samples can be told by, and how many of its samples bear a label.
import { runInNewContext } from 'node:vm';
import { type LabelledProfile, SampleKind } from '../../../src/profile/index.js';
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

/** The samples inside {@link busyWork}. */
export const workSamples = ({ samples, nodes, labels }: LabelledProfile, key: string): WorkSamples => {
  const byValue: Record<string, number> = {};
  let all = 0;
  for (let i = 0; i < samples.count; i++) {
    if (nodes.functionName[samples.node[i]] !== 'busyWork' || samples.kind[i] !== SampleKind.js) continue;
    all++;
    const value = String(labels[samples.label[i]][key] ?? '');
    byValue[value] = (byValue[value] ?? 0) + 1;
  }
  return { all, byValue };
};

/** The share of samples inside {@link busyWork} that bear this value. */
export const shareOf = (profile: LabelledProfile, key: string, value: string): number => {
  const { all, byValue } = workSamples(profile, key);
  return all === 0 ? 0 : (byValue[value] ?? 0) / all;
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

const TRIES = 10;

/** A profile with at least so many samples of {@link busyWork}: a machine that is busy with other things may need some tries. */
export const withSamples = async (
  least: number,
  take: () => LabelledProfile | Promise<LabelledProfile>,
): Promise<LabelledProfile> => {
  for (let i = 1; ; i++) {
    const profile = await take();
    if (workSamples(profile, '').all >= least) return profile;
    if (i === TRIES) throw new Error(`fewer than ${least} samples in each of ${TRIES} profiles`);
  }
};
