// The server of the page alone, where no archive's server carries it. It must listen to nobody but this machine, unless it has a token.
import {
  Guard,
  RequestHandler,
  type RunningHttpServer,
  resolveHttpOptions,
  startHttpServer,
} from '@spanline/archive/internal';
import type { UiSources } from './sources.js';
import { uiRoutes } from './ui-routes.js';

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
