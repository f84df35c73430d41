// The stacks of a finished profile that no span is known to have had, for the event-loop timeline, which knows when no span had the event loop
// but of each such part one stack only. Must say nothing of the time that no sample stands for.
import { getOrMake } from 'spanline/internal/base';
import type { StackStretch } from 'spanline/internal/rows';
import { SPAN_ID_LABEL } from './join/span-labels.js';
import { type LabelledProfile, type ProfileNodes, SampleKind } from './labelled-profile.js';

/** As many as a timeline shows. */
const MAX_FRAMES = 5;
/** A sample that comes later than that stands for itself only: the profiler did not get a core, or was about to end. */
const MAX_INTERVALS = 2;

const framesAt = ({ parent, functionName, url, line }: ProfileNodes, row: number): StackStretch['frames'] => {
  const frames: (string | number)[] = [];
  for (let at = row, left = MAX_FRAMES; parent[at] >= 0 && left > 0; at = parent[at], left--) {
    frames.push(functionName[at], url[at], line[at]);
  }
  return frames;
};

/** In order of time. A sample stands for the time up to the next one; neighbours with the same stack are one stretch. */
export const stacksWithoutSpan = ({ startNs, intervalNs, nodes, samples, labels }: LabelledProfile): StackStretch[] => {
  const stretches: StackStretch[] = [];
  const isOfSpan = labels.map((label) => SPAN_ID_LABEL in label);
  const framesOf = new Map<number, StackStretch['frames']>();
  for (let i = 0; i < samples.count - 1; i++) {
    if (samples.kind[i] !== SampleKind.js || isOfSpan[samples.label[i]]) continue;
    const atNs = startNs + samples.atNs[i];
    const endNs = Math.min(startNs + samples.atNs[i + 1], atNs + MAX_INTERVALS * intervalNs);
    // Several samples may fall into one microsecond.
    if (endNs <= atNs) continue;
    const frames = getOrMake(framesOf, samples.node[i], (row) => framesAt(nodes, row));
    const newest = stretches.at(-1);
    const goesOn = newest?.endNs === atNs && newest.frames === frames;
    if (goesOn) stretches.pop();
    stretches.push({ startNs: goesOn ? newest.startNs : atNs, endNs, frames });
  }
  return stretches;
};
