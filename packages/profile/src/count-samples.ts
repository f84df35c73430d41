// What became of each sample, counted: every sample once.
import {
  LOST_LABEL,
  NO_LABEL,
  OVERFLOW_LABEL,
  type ProfileSamples,
  type SampleCounts,
  SampleKind,
} from './labelled-profile.js';

type Outcome = Exclude<keyof SampleCounts, 'total'>;

const OUTCOME_OF_LABEL: Readonly<Record<number, Outcome>> = {
  [NO_LABEL]: 'unlabelled',
  [LOST_LABEL]: 'lost',
  [OVERFLOW_LABEL]: 'overflow',
};

/** What is counted of a sample of this kind with this row of the labels. */
export const outcomeOf = (kind: number, label: number): Outcome => {
  if (kind === SampleKind.idle) return 'idle';
  if (kind === SampleKind.gc) return 'gc';
  // V8 cannot walk every stack: a label tells all the same.
  const outcome = OUTCOME_OF_LABEL[label] ?? 'labelled';
  return kind === SampleKind.program && outcome !== 'labelled' ? 'program' : outcome;
};

export const countSamples = ({
  count,
  kind,
  label,
}: Pick<ProfileSamples, 'count' | 'kind' | 'label'>): SampleCounts => {
  const counts = { total: count, labelled: 0, unlabelled: 0, lost: 0, overflow: 0, idle: 0, gc: 0, program: 0 };
  for (let i = 0; i < count; i++) counts[outcomeOf(kind[i], label[i])]++;
  return counts;
};
