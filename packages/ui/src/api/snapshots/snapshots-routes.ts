// Endpoints of snapshots: which there are, of which processes one can be taken, and the taking itself. That opens the inspector of a process, where
// whoever connects meanwhile runs code as its user: it must never be done for a request without the token, also where everything else is answered to
// all programs of this machine.
import { Guard, HttpError, type Route, required } from '@spanline/archive/internal';
import { nodeProcesses, type SnapshotStore } from '../../snapshots/snapshot-store.js';
import { apiGet, apiPost } from '../api-route.js';

/** Process ids of Linux end below this. */
const MAX_PID = 2 ** 22;

const pidOf = (body: unknown): number => {
  const { pid } = (body ?? {}) as { readonly pid?: unknown };
  if (typeof pid === 'number' && Number.isSafeInteger(pid) && pid >= 1 && pid <= MAX_PID) return pid;
  throw new HttpError(400, `pid must be a whole number from 1 to ${MAX_PID}`);
};

/** Who does not bring the token is refused before anything of the request is looked at. */
const behindToken = (token: string, route: Route): Route => {
  const guard = new Guard(token, [], []);
  return {
    ...route,
    handle: async (call) => {
      guard.check(call.request);
      await route.handle(call);
    },
  };
};

/** The routes below /ui/api/snapshots; without a store none is served, and the page does not ask. */
export const snapshotsRoutes = (store: SnapshotStore | undefined): Route[] =>
  store === undefined
    ? []
    : [
        apiGet('snapshots', () => store.list()),
        apiGet('snapshots/processes', () => nodeProcesses()),
        apiGet('snapshots/facts', ({ query }) => store.facts(required(query, 'snapshot'))),
        behindToken(
          store.token,
          apiPost('snapshots/take', (body, { signal }) => store.take(pidOf(body), signal)),
        ),
      ];
