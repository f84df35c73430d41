// A finished profile from what V8 sampled and what the carriers know: finds the scope of each sample, counts every sample once, and
// credits the labels with their CPU time.
import { attributed, type Carried } from './attribute.js';
import { countsOf, outcomeOf } from './count-samples.js';
import type { RawProfile } from './cpu-profiler.js';
import { unixNsAt } from './join/unix-time.js';
import { LabelRows } from './label-rows.js';
import type { Carrier, LabelledProfile } from './labelled-profile.js';
import { Counter, count } from './profile-counters.js';
import { rawSamples } from './raw-samples.js';
import { labelsOf } from './scope.js';

const NS_PER_US = 1000;

export interface ProfileFacts {
  readonly carrier: Carrier;
  readonly intervalNs: number;
  readonly threadId: number;
}

export const buildProfile = (raw: RawProfile, carried: Carried, facts: ProfileFacts): LabelledProfile => {
  const { samples, scopes, cpuNs, unit } = attributed(rawSamples(raw), carried, facts.intervalNs);
  const rows = new LabelRows();
  const label = new Uint32Array(samples.count);
  const atNs = new Float64Array(samples.count);
  const counts = countsOf(samples.count);
  for (let i = 0; i < samples.count; i++) {
    const scope = scopes[i];
    label[i] = rows.rowOf(scope);
    atNs[i] = (samples.us[i] - samples.startUs) * NS_PER_US;
    const outcome = outcomeOf(samples.kind[i], label[i]);
    counts[outcome]++;
    if (outcome !== 'labelled' || typeof scope === 'string') continue;
    for (const each of labelsOf(scope)) each.credit(cpuNs[i]);
  }
  count(Counter.samplesLost, counts.lost);
  count(Counter.profiles);
  const startNs = samples.startUs * NS_PER_US;
  return {
    ...facts,
    startNs,
    endNs: samples.endUs * NS_PER_US,
    startUnixNs: unixNsAt(startNs),
    unit,
    nodes: samples.nodes,
    samples: { count: samples.count, node: samples.node, atNs, cpuNs, label, kind: samples.kind },
    labels: rows.labels,
    counts,
  };
};
