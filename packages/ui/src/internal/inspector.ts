// What the command line uses to look into other processes of Node. Loads nothing of the page.
export { listeningPorts } from '../inspector/find-inspector.js';
export { takeSnapshot } from '../inspector/take-snapshot.js';
export { loadedThere, withInspector } from '../inspector/with-inspector.js';
