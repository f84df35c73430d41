// A finished profile from what V8 sampled and what the carriers know: finds the scope of each sample, counts every sample once, and
// credits the labels with their CPU time.
import { getOrMake } from 'spanline/internal/base';
import { type Attribution, attributed, type Carried } from './attribute.js';
import type { RawProfile } from './cpu-profiler.js';
import {
  type Carrier,
  countSamples,
  type LabelledProfile,
  LabelRows,
  LOST_LABEL,
  NO_LABEL,
  OVERFLOW_LABEL,
  outcomeOf,
} from './labelled-profile.js';
import { Counter, count } from './profile-counters.js';
import { rawSamples } from './raw-samples.js';
import { unixNsAt } from './sample-clock.js';
import { labelsOf, recordOf } from './scope.js';
import { NO_SCOPE, type Scope } from './shared-state.js';

const NS_PER_US = 1000;

export interface ProfileFacts {
  readonly carrier: Carrier;
  readonly intervalNs: number;
  readonly threadId: number;
}

export const buildProfile = (raw: RawProfile, carried: Carried, facts: ProfileFacts): LabelledProfile => {
  const { samples: taken, scopes, cpuNs, unit } = attributed(rawSamples(raw), carried, facts.intervalNs);
  const { labels, rowOf } = labelTable();
  const label = Uint32Array.from(scopes, rowOf);
  const atNs = taken.us.map((us) => (us - taken.startUs) * NS_PER_US);
  const samples = { count: taken.count, node: taken.node, atNs, cpuNs, label, kind: taken.kind };
  scopes.forEach((scope, i) => {
    if (outcomeOf(taken.kind[i], label[i]) !== 'labelled') return;
    for (const each of labelsOf(scope as Scope)) each.credit(cpuNs[i]);
  });
  const counts = countSamples(samples);
  count(Counter.samplesLost, counts.lost);
  count(Counter.profiles);
  const startNs = taken.startUs * NS_PER_US;
  const endNs = taken.endUs * NS_PER_US;
  return {
    ...facts,
    startNs,
    endNs,
    startUnixNs: unixNsAt(startNs),
    unit,
    nodes: taken.nodes,
    samples,
    labels,
    counts,
  };
};

/** The label table of a profile, and the row of what is known of a sample. */
const labelTable = (): { readonly labels: LabelRows['labels']; rowOf(scope: Attribution): number } => {
  const table = new LabelRows();
  const rows = new Map<Attribution, number>([
    [NO_SCOPE, NO_LABEL],
    ['lost', LOST_LABEL],
    ['overflow', OVERFLOW_LABEL],
  ]);
  return {
    labels: table.labels,
    rowOf: (scope) => getOrMake(rows, scope, () => table.rowOf(recordOf(scope as Scope))),
  };
};
