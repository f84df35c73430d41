// The instrumentation `http`: both sides of Node's `http` and `https`.
import { allOff, type Off } from '../channel.js';
import type { Propagator } from '../propagator.js';
import { traceCalls } from './client.js';
import type { HttpOptions } from './options.js';
import { traceServers } from './server.js';

/** The options of one side; undefined where it is off. */
export const sideOf = <T extends object>(side: boolean | T | undefined): T | undefined => {
  if (side === false) return undefined;
  return typeof side === 'object' ? side : ({} as T);
};

export const instrumentHttp = ({ server, client }: HttpOptions, propagator: Propagator): Off => {
  const [serverOptions, clientOptions] = [sideOf(server), sideOf(client)];
  return allOff([
    ...(serverOptions === undefined ? [] : [traceServers(serverOptions, propagator)]),
    ...(clientOptions === undefined ? [] : [traceCalls(clientOptions, propagator)]),
  ]);
};
