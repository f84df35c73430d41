// What sibling packages use of ui beyond its public names. Exports only what they in fact import.

export { SnapshotStore } from './snapshots/snapshot-store.js';
export type { UiSources } from './sources.js';
export { uiRoutes } from './ui-routes.js';
export { createUiServer, openBrowser } from './ui-server.js';
