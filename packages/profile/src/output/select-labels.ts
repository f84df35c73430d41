// The same samples under other labels: fewer keys, none, or all keys of a sample as one; and what formats without time write of a profile: samples
// of one stack and one label as one, and labels and frames as one line of text. Must not touch a sample's time or weight. No text of a user's may
// break a line, move the cursor or switch the direction of writing.

import { getOrMake, shortText } from 'spanline/internal/base';
import type { Frame } from '../call-tree.js';
import {
  countSamples,
  type LabelledProfile,
  type LabelRecord,
  LabelRows,
  NO_LABEL,
  recordFrom,
  SampleKind,
} from '../labelled-profile.js';

const MAX_CHARACTERS = 256;

/** Without control characters, and cut to 256 characters. */
export const plainText = (text: string): string => shortText(text, MAX_CHARACTERS);

/** `query=q1`. */
export const pairText = (key: string, value: string | number): string => plainText(`${key}=${value}`);

const quotedIf = (text: string, isUnclear: RegExp): string => (isUnclear.test(text) ? JSON.stringify(text) : text);

/** `query=q1, node=3`; empty for no label. Another text for each record: not cut, and in quotes what would be read as the next pair. */
const labelText = (record: LabelRecord): string =>
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

/** The same samples with every label changed; labels that became equal are one. */
export const relabelled = (profile: LabelledProfile, change: (record: LabelRecord) => LabelRecord): LabelledProfile => {
  const table = new LabelRows();
  const rows = profile.labels.map((record) => table.rowOf(change(record)));
  const samples = { ...profile.samples, label: profile.samples.label.map((row) => rows[row]) };
  return { ...profile, samples, labels: table.labels, counts: countSamples(samples) };
};

/**
 * The profile with some of its label keys only.
 *
 * Before a profile leaves for a place that keeps a series for every value of every label, or to compare it with one without labels
 * (`() => false`).
 *
 * @example
 * ```ts
 * import { profile, selectLabels, toPprof } from '@spanline/profile';
 * const bytes = await toPprof(selectLabels(await profile({ durationMs: 20 }), (key) => key !== 'trace_id'));
 * ```
 */
export const selectLabels = (profile: LabelledProfile, isKept: (key: string) => boolean): LabelledProfile =>
  relabelled(profile, (record) => recordFrom(Object.entries(record).filter(([key]) => isKept(key))));

/** The key by which tables show all labels of a sample as one text: `top(profile, { by: WHOLE_LABEL })`. */
export const WHOLE_LABEL = 'label';

/** All labels of a sample as the one text label {@link WHOLE_LABEL}. */
const wholeLabels = (profile: LabelledProfile): LabelledProfile =>
  relabelled(profile, (record) => {
    const text = labelText(record);
    return recordFrom(text === '' ? [] : [[WHOLE_LABEL, text]]);
  });

/**
 * Every label key of the profile, in order.
 *
 * To know what a file can be grouped by.
 *
 * @example
 * ```ts
 * import { labelKeys, profile } from '@spanline/profile';
 * console.assert(labelKeys(await profile({ durationMs: 20 })).length === 0);
 * ```
 */
export const labelKeys = ({ labels, samples }: LabelledProfile): string[] => {
  const used = new Set(samples.label);
  return [...new Set(labels.flatMap((record, row) => (used.has(row) ? Object.keys(record) : [])))].sort();
};

/** Read to be grouped by `key`; the key {@link WHOLE_LABEL} stands for all labels together unless one of the profiles has such a key. */
export const groupedBy = (key: string, ...profiles: LabelledProfile[]): LabelledProfile[] => {
  const isWhole = key === WHOLE_LABEL && !profiles.some((profile) => labelKeys(profile).includes(WHOLE_LABEL));
  return isWhole ? profiles.map(wholeLabels) : profiles;
};
