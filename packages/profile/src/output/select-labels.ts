// The same samples under other labels: fewer keys, none, or all keys of a sample as one. Must not touch a sample's time or weight.

import { countSamples, type LabelledProfile, type LabelRecord, LabelRows, recordFrom } from '../labelled-profile.js';
import { labelText } from './label-text.js';

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
export const wholeLabels = (profile: LabelledProfile): LabelledProfile =>
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
