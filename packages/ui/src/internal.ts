// What sibling packages use of ui beyond its public names. Exports only what they in fact import.

export type { UiSources } from './api/api-route.js';
export { openBrowser } from './open-browser.js';
export { SnapshotStore } from './snapshots/snapshot-store.js';
export { createUiServer, uiRoutes } from './ui-server.js';
