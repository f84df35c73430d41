// How the suite labels and profiles with spanline.
import { DynamicLabel, SampleKind, startProfile } from '../../packages/profile/dist/esm/index.js';
import { EVERY_MS } from './settings.mjs';
import { WORK } from './work.mjs';

const KEY = 'query';

const weigh = ({ samples, nodes, labels }) => {
  const byLabel = {};
  let all = 0;
  for (let i = 0; i < samples.count; i++) {
    if (samples.kind[i] !== SampleKind.js || nodes.functionName[samples.node[i]] !== WORK) continue;
    all += samples.cpuNs[i];
    const label = labels[samples.label[i]][KEY];
    if (label !== undefined) byLabel[label] = (byLabel[label] ?? 0) + samples.cpuNs[i];
  }
  return { all, byLabel };
};

/** @returns {import('./shares.mjs').Labeller} */
export const spanlineLabeller = (options, note) => {
  let running;
  return {
    note,
    start: async (everyMs = EVERY_MS) => {
      running = await startProfile({ ...options, everyMs });
    },
    label: (i) => new DynamicLabel(KEY, i),
    apply: (label, fn) => label.apply(fn),
    run: (label, fn) => label.run(fn),
    stop: () => weigh(running.stop()),
  };
};
