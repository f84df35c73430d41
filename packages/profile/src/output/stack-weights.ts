// Samples of one stack and one label as one: what formats without time need.
import { getOrMake } from 'spanline/internal/base';
import { type LabelledProfile, SampleKind } from '../labelled-profile.js';
import { labelRowOf } from './label-text.js';

export interface StackWeight {
  /** Row of the innermost frame. */
  readonly node: number;
  /** Row of the label. */
  readonly label: number;
  samples: number;
  cpuNs: number;
}

/** Sums by stack and label, in order of the first sample. Idle samples are left out: they are no CPU time. */
export const stackWeights = (profile: LabelledProfile): StackWeight[] => {
  const { samples, labels } = profile;
  const sums = new Map<number, StackWeight>();
  for (let i = 0; i < samples.count; i++) {
    if (samples.kind[i] === SampleKind.idle) continue;
    const node = samples.node[i];
    const label = labelRowOf(profile, i);
    const sum = getOrMake(sums, node * labels.length + label, () => ({ node, label, samples: 0, cpuNs: 0 }));
    sum.samples++;
    sum.cpuNs += samples.cpuNs[i];
  }
  return [...sums.values()];
};
