// What sibling packages use of profile beyond its public names. Exports only what they in fact import.
export { type Frame, frameAt, stackOf } from './call-tree.js';
export { recordFrom } from './label-rows.js';
export { frameName, plainText } from './output/label-text.js';
export { EXTENSION_OF } from './output/profile-format.js';
export { readProfileStream } from './output/read-profile-stream.js';
export { groupedBy, relabelled } from './output/select-labels.js';
export { stackWeights } from './output/stack-weights.js';
export { CpuSum, labelValue } from './shares.js';
export { applyRetention, profileFileName } from './sinks/retention.js';
