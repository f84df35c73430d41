// What sibling packages use of profile beyond its public names. Exports only what they in fact import.
export { type Frame, frameAt, stackOf } from './call-tree.js';
export { recordFrom } from './labelled-profile.js';
export { EXTENSION_OF } from './output/profile-format.js';
export { readProfileStream } from './output/read-profile.js';
export { frameName, groupedBy, plainText, relabelled, stackWeights } from './output/select-labels.js';
export { CpuSum, labelValue } from './shares.js';
export { applyRetention, profileFileName } from './sinks/directory.js';
