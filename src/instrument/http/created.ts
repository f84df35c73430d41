// The moment at which an outgoing request has been made and its headers can still be added to. Newer lines of Node publish it; in others the
// functions of `http` and `https` are wrapped, and must behave as they did.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import http, { type ClientRequest } from 'node:http';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import { Duplex } from 'node:stream';
import { Counter, count } from '../../local-span/counters.js';
import type { Off } from '../channel.js';

const CHANNEL = 'http.client.request.created';

let isPublished: boolean | undefined;

/** Whether this Node publishes it: found by a request that goes nowhere. */
export const hasCreatedChannel = (): boolean => {
  if (isPublished !== undefined) return isPublished;
  isPublished = false;
  const seen = (): void => {
    isPublished = true;
  };
  subscribe(CHANNEL, seen);
  try {
    const request = new http.ClientRequest({ agent: false, createConnection: () => new Duplex() } as never);
    request.on('error', () => {});
    request.destroy();
  } finally {
    unsubscribe(CHANNEL, seen);
  }
  return isPublished;
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
    const wrapped = function (this: unknown, ...args: unknown[]): ClientRequest {
      const result = Reflect.apply(request, this, args);
      try {
        made(result);
      } catch {
        count(Counter.instrumentationErrors);
      }
      return result;
    };
    // Node's own calls its own `request`.
    const wrappedGet = function (this: unknown, ...args: unknown[]): ClientRequest {
      const result = Reflect.apply(wrapped, this, args);
      result.end();
      return result;
    };
    const shape = (fn: Make, like: Make): Make =>
      Object.defineProperties(fn, { name: { value: like.name }, length: { value: like.length } });
    module.request = shape(wrapped, request);
    module.get = shape(wrappedGet, get);
    return () => {
      // Somebody may have wrapped ours meanwhile: then it stays, and does nothing of its own.
      if (module.request === wrapped) module.request = request;
      if (module.get === wrappedGet) module.get = get;
    };
  };
  const offs = [http, https].map((module) => wrap(module as unknown as Module));
  syncBuiltinESMExports();
  return () => {
    isOn = false;
    for (const off of offs) off();
    syncBuiltinESMExports();
  };
};
