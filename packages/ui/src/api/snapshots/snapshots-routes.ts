// Endpoints of snapshots: which there are, of which processes one can be taken, and the taking itself, which the page of this server alone may ask for.
import { HttpError, type Route, required } from '@spanline/archive/internal';
import { nodeProcesses, type SnapshotStore } from '../../snapshots/snapshot-store.js';
import { apiGet, apiPost } from '../api-route.js';

/** Process ids of Linux end below this. */
const MAX_PID = 2 ** 22;

const pidOf = (body: unknown): number => {
  const { pid } = (body ?? {}) as { readonly pid?: unknown };
  if (typeof pid === 'number' && Number.isSafeInteger(pid) && pid >= 1 && pid <= MAX_PID) return pid;
  throw new HttpError(400, `pid must be a whole number from 1 to ${MAX_PID}`);
};

/** The routes below /ui/api/snapshots; without a store none is served, and the page does not ask. */
export const snapshotsRoutes = (store: SnapshotStore | undefined): Route[] =>
  store === undefined
    ? []
    : [
        apiGet('snapshots', () => store.list()),
        apiGet('snapshots/processes', () => nodeProcesses()),
        apiGet('snapshots/facts', ({ query }) => store.facts(required(query, 'snapshot'))),
        apiPost('snapshots/take', (body, { signal }) => store.take(pidOf(body), signal)),
      ];
