// The moment at which an outgoing request has been made and its headers can still be added to. Newer lines of Node publish it; in others the
// functions of `http` and `https` are wrapped, and must behave as they did.
import type { ClientRequest } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { Counter, count } from '../../rows/counters.js';
import { allOff, type Off } from '../channel.js';
import { putMethod } from '../replace-method.js';

/**
 * Whether this Node publishes it: 22.12, 23.2 and later ones. By version, because to make a request that shows it would load `node:http` at the
 * start of each program.
 */
export const hasCreatedChannel = (): boolean => {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > 23 || (major === 23 && minor >= 2) || (major === 22 && minor >= 12);
};

type Make = (...args: unknown[]) => ClientRequest;

/** Calls `made` with each request that `http` and `https` make. */
export const wrapRequests = (handler: (request: ClientRequest) => void): Off => {
  let isOn = true;
  const see = (request: ClientRequest): void => {
    try {
      if (isOn) handler(request);
    } catch {
      count(Counter.instrumentationErrors);
    }
  };
  const wrap = (module: { readonly request: unknown }): Off => {
    const request = module.request as Make;
    return allOff([
      putMethod(module, 'request', function (this: unknown, ...args: unknown[]): ClientRequest {
        const made = Reflect.apply(request, this, args);
        see(made);
        return made;
      }),
      // Node's own calls its own `request`.
      putMethod(module, 'get', function (this: unknown, ...args: unknown[]): ClientRequest {
        const made = Reflect.apply(request, this, args);
        see(made);
        made.end();
        return made;
      }),
    ]);
  };
  const off = allOff([wrap(process.getBuiltinModule('node:http')), wrap(process.getBuiltinModule('node:https'))]);
  syncBuiltinESMExports();
  return () => {
    isOn = false;
    off();
    syncBuiltinESMExports();
  };
};
