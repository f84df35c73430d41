// The routes of the page, and its server where no archive's server carries it. Each view brings a folder of its own under `api/`. The server must
// listen to nobody but this machine, unless it has a token.
import {
  Guard,
  HttpError,
  RequestHandler,
  type Route,
  type RunningHttpServer,
  resolveHttpOptions,
  startHttpServer,
} from '@spanline/archive/internal';
import type { SourcesAnswer } from './api/answers.js';
import { type ArchiveOf, apiGet, type UiSources } from './api/api-route.js';
import { goldenRoutes } from './api/golden/golden-routes.js';
import { groupsRoutes } from './api/groups/groups-routes.js';
import { historyRoutes } from './api/history/read-history.js';
import { liveRoutes } from './api/live/live-feed.js';
import { profileRoutes } from './api/profiles/profile-routes.js';
import { snapshotsRoutes } from './api/snapshots/snapshots-routes.js';
import { stallsRoutes } from './api/stalls/stalls-routes.js';
import { traceRoutes } from './api/trace/trace-routes.js';
import { tracesRoutes } from './api/traces/traces-routes.js';
import { pageRoutes } from './page-files.js';

const sourcesOf = (
  { archive, metrics = [], perf, history, gold, profiles, snapshots }: UiSources,
  version: string,
): SourcesAnswer => ({
  version,
  sources: {
    archive: archive !== undefined,
    metrics: metrics.length > 0,
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
  const traces = archiveOf(sources);
  return [
    ...(isAlone ? [homeRoute] : []),
    ...pageRoutes(),
    apiGet('sources', () => sourcesOf(sources, version)),
    ...liveRoutes(sources),
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

/** Where the page is served. */
export interface UiServerOptions {
  /** Address to listen on; any but this machine's own wants a token. */
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly token?: string;
  readonly allowedHosts?: readonly string[];
  /** Version of the package, for the page to show. */
  readonly version: string;
}

/** Serve the page over its sources, which stay open when it closes. `BadOptionsError` for wrong options, `TransportError` when it cannot listen. */
export const createUiServer = async (
  sources: UiSources,
  { version, ...options }: UiServerOptions,
): Promise<RunningHttpServer> => {
  const resolved = resolveHttpOptions(options);
  const guard = new Guard(resolved.token, resolved.allowedHosts, []);
  return startHttpServer(new RequestHandler(uiRoutes(sources, version, true), guard, resolved), resolved);
};
