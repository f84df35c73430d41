// The instrumentation `http2`: both sides of Node's `http2`, which is loaded only when the program loads it. Calls of gRPC have spans of their own
// and must not get a second one.
import { allOff, type Off } from '../channel.js';
import { canHook } from '../on-es-module.js';
import { onModule } from '../on-module.js';
import type { Propagator } from '../propagator.js';
import { type Http2, type Http2ClientOptions, traceConnections } from './client.js';
import { type Http2ServerOptions, traceStreams } from './server.js';

/** Options of the instrumentation `http2`. */
export interface Http2Options {
  /** False: incoming requests are not traced. */
  readonly server?: boolean | Http2ServerOptions;
  /** False: outgoing requests are not traced. */
  readonly client?: boolean | Http2ClientOptions;
}

const isLoaded = (): boolean =>
  (process as { moduleLoadList?: readonly string[] }).moduleLoadList?.includes('NativeModule http2') === true;

/** Now where it cannot be seen being loaded. */
const loadedNow = (): unknown => (!canHook() || isLoaded() ? process.getBuiltinModule('node:http2') : undefined);

export const traceHttp2Servers = (options: Http2ServerOptions, propagator: Propagator): Off => {
  const streams = traceStreams(options, propagator);
  return allOff([streams.off, onModule<Http2>('http2', loadedNow(), streams.watch)]);
};

export const traceHttp2Calls = (options: Http2ClientOptions, propagator: Propagator): Off =>
  onModule<Http2>('http2', loadedNow(), (http2) => traceConnections(http2, options, propagator));
