// The entry `spanline/instrument`: every public name of instrumentation, and nothing else.
export type { HttpClientOptions, HttpOptions, HttpServerOptions } from './http/options.js';
export { setRoute } from './http/request-span.js';
export { type Instrumentation, type InstrumentOptions, instrument } from './instrument.js';
export type { IncomingHeaders, Propagator } from './propagator.js';
export type { UndiciOptions, UndiciRequest, UndiciResponse } from './undici.js';
