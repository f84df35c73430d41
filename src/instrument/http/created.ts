// The moment at which an outgoing request has been made and its headers can still be added to. Newer lines of Node publish it; in others the
// functions of `http` and `https` are wrapped, and must behave as they did.
import type { ClientRequest } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { lookAlike } from '../../base/calls/look-alike.js';
import { Counter, count } from '../../rows/counters.js';
import type { Off } from '../channel.js';

/**
 * Whether this Node publishes it: 22.12, 23.2 and later ones. By version, because to make a request that shows it would load `node:http` at the
 * start of each program.
 */
export const hasCreatedChannel = (): boolean => {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > 23 || (major === 23 && minor >= 2) || (major === 22 && minor >= 12);
};

type Make = (...args: unknown[]) => ClientRequest;
type Module = { request: Make; get: Make };

/** Calls `made` with each request that `http` and `https` make. */
export const wrapRequests = (handler: (request: ClientRequest) => void): Off => {
  let isOn = true;
  const made = (request: ClientRequest): void => {
    if (isOn) handler(request);
  };
  const wrap = (module: Module): Off => {
    const { request, get } = module;
    const see = (result: ClientRequest): void => {
      try {
        made(result);
      } catch {
        count(Counter.instrumentationErrors);
      }
    };
    const wrapped = function (this: unknown, ...args: unknown[]): ClientRequest {
      const result = Reflect.apply(request, this, args);
      see(result);
      return result;
    };
    // Node's own calls its own `request`.
    const wrappedGet = function (this: unknown, ...args: unknown[]): ClientRequest {
      const result = Reflect.apply(request, this, args);
      see(result);
      result.end();
      return result;
    };
    module.request = lookAlike(wrapped, request);
    module.get = lookAlike(wrappedGet, get);
    return () => {
      // Somebody may have wrapped ours meanwhile: then it stays, and does nothing of its own.
      if (module.request === wrapped) Reflect.set(module, 'request', request);
      if (module.get === wrappedGet) Reflect.set(module, 'get', get);
    };
  };
  const offs = [process.getBuiltinModule('node:http'), process.getBuiltinModule('node:https')].map((module) =>
    wrap(module as unknown as Module),
  );
  syncBuiltinESMExports();
  return () => {
    isOn = false;
    for (const off of offs) off();
    syncBuiltinESMExports();
  };
};
