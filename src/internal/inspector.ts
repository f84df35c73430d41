// What packages beside the core use to look into other processes of Node. It loads what `internal/base` must not: HTTP.
export { isNode } from '../base/inspector/find-inspector.js';
export { loadedThere, withInspector } from '../base/inspector/with-inspector.js';
export { takeSnapshot } from '../flight-recorder/take-snapshot.js';
