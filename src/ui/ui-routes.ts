// All routes of the page: its files and its endpoints. Each view brings a folder of its own under `api/`; this file only gathers them.
import type { Route } from '../archive/server/route.js';
import type { SourcesAnswer } from './api/answers.js';
import { apiGet } from './api/api-route.js';
import { goldenRoutes } from './api/golden/golden-routes.js';
import { groupsRoutes } from './api/groups/groups-routes.js';
import { historyRoutes } from './api/history/history-routes.js';
import { liveRoutes } from './api/live/live-routes.js';
import { profileRoutes } from './api/profiles/profile-routes.js';
import { stallsRoutes } from './api/stalls/stalls-routes.js';
import { traceRoutes } from './api/trace/trace-routes.js';
import { tracesRoutes } from './api/traces/traces-routes.js';
import { pageRoutes } from './page-files.js';
import type { UiSources } from './sources.js';

const sourcesOf = ({ archive, perf, history, gold, profiles }: UiSources, version: string): SourcesAnswer => ({
  version,
  sources: {
    archive: archive !== undefined,
    perf: perf !== undefined,
    history: history !== undefined,
    gold: gold !== undefined,
    profiles: profiles !== undefined,
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

/** Routes for a server; `isAlone` when it has no others and its root is free. */
export const uiRoutes = (sources: UiSources, version: string, isAlone: boolean): Route[] => {
  const { archive } = sources;
  return [
    ...(isAlone ? [homeRoute] : []),
    ...pageRoutes(),
    apiGet('sources', () => sourcesOf(sources, version)),
    ...(archive === undefined
      ? []
      : [
          ...liveRoutes(archive),
          ...tracesRoutes(async () => archive),
          ...traceRoutes(async () => archive),
          ...groupsRoutes(async () => archive),
          ...stallsRoutes(async () => archive),
        ]),
    ...historyRoutes(sources),
    ...goldenRoutes(sources.gold),
    ...profileRoutes(sources),
  ];
};
