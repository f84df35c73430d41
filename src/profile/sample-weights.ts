// How much CPU time a sample stands for. Samples are equal: the CPU time of a stretch is divided among its busy samples. Never by the
// time since the sample before: code that follows a pause would be charged for it.
import { SampleKind } from './labelled-profile.js';

/** Busy samples that share the CPU time they were taken in. More, and a change of pace is lost; fewer, and it is noise. */
const STRETCH = 64;

/** Each busy sample weighs one interval. */
export const weightsByCount = (kind: Uint8Array, intervalNs: number): Float64Array =>
  Float64Array.from(kind, (each) => (each === SampleKind.idle ? 0 : intervalNs));

/**
 * By measured CPU time. `cpuNs` is that of the thread at each sample, NaN where it was not noted; `startNs` at the first.
 */
export const weightsByCpu = (kind: Uint8Array, cpuNs: Float64Array, startNs: number): Float64Array => {
  const weights = new Float64Array(kind.length);
  let before = startNs;
  let latest = startNs;
  let from = 0;
  let busy = 0;
  const share = (to: number): void => {
    const each = busy === 0 ? 0 : (latest - before) / busy;
    for (let i = from; i < to; i++) weights[i] = kind[i] === SampleKind.idle ? 0 : each;
  };
  for (let i = 0; i < kind.length; i++) {
    if (kind[i] !== SampleKind.idle) busy++;
    if (!Number.isNaN(cpuNs[i])) latest = cpuNs[i];
    if (busy < STRETCH || Number.isNaN(cpuNs[i])) continue;
    share(i + 1);
    before = latest;
    from = i + 1;
    busy = 0;
  }
  share(kind.length);
  return weights;
};
