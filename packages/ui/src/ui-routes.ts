// All routes of the page: its files and its endpoints. Each view brings a folder of its own under `api/`; this file only gathers them.
import { HttpError, type Route } from '@spanline/archive/internal';
import type { SourcesAnswer } from './api/answers.js';
import { type ArchiveOf, apiGet } from './api/api-route.js';
import { goldenRoutes } from './api/golden/golden-routes.js';
import { groupsRoutes } from './api/groups/groups-routes.js';
import { historyRoutes } from './api/history/history-routes.js';
import { liveRoutes } from './api/live/live-feed.js';
import { profileRoutes } from './api/profiles/profile-routes.js';
import { snapshotsRoutes } from './api/snapshots/snapshots-routes.js';
import { stallsRoutes } from './api/stalls/stalls-routes.js';
import { traceRoutes } from './api/trace/trace-routes.js';
import { tracesRoutes } from './api/traces/traces-routes.js';
import { pageRoutes } from './page-files.js';
import type { UiSources } from './sources.js';

const sourcesOf = (
  { archive, perf, history, gold, profiles, snapshots }: UiSources,
  version: string,
): SourcesAnswer => ({
  version,
  sources: {
    archive: archive !== undefined,
    perf: perf !== undefined,
    history: history !== undefined,
    gold: gold !== undefined,
    profiles: profiles !== undefined,
    snapshots: snapshots !== undefined,
  },
});

/** Who comes with a browser wants the page. */
const homeRoute: Route = {
  method: 'GET',
  path: [''],
  isOpen: true,
  isQuery: false,
  handle: ({ response }) => {
    response.writeHead(302, { location: '/ui' }).end();
  },
};

/** The archive, or the snapshot that a request names. */
const archiveOf =
  ({ archive, snapshots }: UiSources): ArchiveOf =>
  async ({ query }) => {
    const id = query.get('snapshot') ?? '';
    if (id !== '' && snapshots !== undefined) return snapshots.archiveOf(id);
    if (id === '' && archive !== undefined) return archive;
    throw new HttpError(
      404,
      id === ''
        ? 'no archive is open: start spanline ui with --archive DIR'
        : 'no snapshots are open here: start spanline ui with --snapshot FILE',
    );
  };

/** Routes for a server; `isAlone` when it has no others and its root is free. */
export const uiRoutes = (sources: UiSources, version: string, isAlone: boolean): Route[] => {
  const { archive } = sources;
  const traces = archiveOf(sources);
  return [
    ...(isAlone ? [homeRoute] : []),
    ...pageRoutes(),
    apiGet('sources', () => sourcesOf(sources, version)),
    ...(archive === undefined ? [] : liveRoutes(archive)),
    ...tracesRoutes(traces),
    ...traceRoutes(traces),
    ...groupsRoutes(traces),
    ...stallsRoutes(traces),
    ...snapshotsRoutes(sources.snapshots),
    ...historyRoutes(sources),
    ...goldenRoutes(sources.gold),
    ...profileRoutes(sources),
  ];
};
