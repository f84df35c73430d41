// What sibling packages use of profile beyond its public names. Exports only what they in fact import.
export { type Frame, frameAt, stackOf } from './call-tree.js';
export { recordFrom } from './labelled-profile.js';
export { frameName, plainText, stackWeights } from './output/label-text.js';
export { EXTENSION_OF } from './output/profile-format.js';
export { readProfileStream } from './output/read-profile.js';
export { groupedBy, relabelled } from './output/select-labels.js';
export { CpuSum, labelValue } from './shares.js';
export { applyRetention, profileFileName } from './sinks/retention.js';
