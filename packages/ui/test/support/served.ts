// The page's server over given sources, for the tests of a file; it ends with them. Brings the build up to date, as the page is a part of it.
import { afterAll } from 'vitest';
import type { RunningHttpServer } from '../../../archive/src/server/http-server.js';
import type { UiSources } from '../../src/api/api-route.js';
import { createUiServer, type UiServerOptions } from '../../src/ui-server.js';

/** Start a server on a free port; gives its address with /ui. */
export const useServer = (): ((sources: UiSources, options?: Partial<UiServerOptions>) => Promise<string>) => {
  const running: RunningHttpServer[] = [];
  afterAll(async () => {
    for (const server of running) await server.close();
  });
  return async (sources, options = {}) => {
    const server = await createUiServer(sources, { host: '127.0.0.1', port: 0, version: 'test', ...options });
    running.push(server);
    return `${server.url}/ui`;
  };
};
