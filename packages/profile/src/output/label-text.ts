// What formats without time write of a profile: samples of one stack and one label as one, and labels and frames as one line of text, for names in
// flame graphs and tables. No text of a user's may break a line, move the cursor or switch the direction of writing.
import { getOrMake, shortText } from 'spanline/internal/base';
import type { Frame } from '../call-tree.js';
import { type LabelledProfile, type LabelRecord, NO_LABEL, SampleKind } from '../labelled-profile.js';

const MAX_CHARACTERS = 256;

/** Without control characters, and cut to 256 characters. */
export const plainText = (text: string): string => shortText(text, MAX_CHARACTERS);

/** `query=q1`. */
export const pairText = (key: string, value: string | number): string => plainText(`${key}=${value}`);

const quotedIf = (text: string, isUnclear: RegExp): string => (isUnclear.test(text) ? JSON.stringify(text) : text);

/** `query=q1, node=3`; empty for no label. Another text for each record: not cut, and in quotes what would be read as the next pair. */
export const labelText = (record: LabelRecord): string =>
  Object.entries(record)
    .map(([key, value]) => `${quotedIf(key, /[=,]|^"/)}=${quotedIf(String(value), /, |^"/)}`)
    .join(', ');

/** The name a person reads. */
export const frameName = ({ functionName }: Frame): string => plainText(functionName) || '(anonymous)';

/** Row of the label that a sample counts for. Idle time and garbage collection are nobody's. */
export const labelRowOf = ({ samples }: LabelledProfile, i: number): number => {
  const kind = samples.kind[i];
  return kind === SampleKind.idle || kind === SampleKind.gc ? NO_LABEL : samples.label[i];
};

interface StackWeight {
  /** Row of the innermost frame. */
  readonly node: number;
  /** Row of the label. */
  readonly label: number;
  samples: number;
  cpuNs: number;
}

/** Sums by stack and label, in order of the first sample. Idle samples are left out: they are not CPU time. */
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
