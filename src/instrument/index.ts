// The entry `spanline/instrument`: every public name of instrumentation, and nothing else.
export type { DatabaseCall, DatabaseOptions } from './db/database.js';
export type { MongodbOptions } from './db/mongodb.js';
export type { MongooseOptions } from './db/mongoose.js';
export type { PgOptions } from './db/pg.js';
export type { IoredisOptions } from './db/redis.js';
export type { GraphqlOperation, GraphqlOptions } from './graphql.js';
export type { GrpcCall, GrpcOptions } from './grpc.js';
export type { HttpClientOptions, HttpOptions, HttpServerOptions } from './http/options.js';
export { setRoute } from './http/request-span.js';
export type { Http2ClientOptions, Http2Options, Http2ServerOptions } from './http2/options.js';
export { type Instrumentation, type InstrumentOptions, instrument } from './instrument.js';
export { type ChannelOptions, instrumentChannel } from './instrument-channel.js';
export type { AmqplibOptions } from './messaging/amqplib.js';
export type { MessageCall, MessagingOptions } from './messaging/messaging.js';
export type { VersionLog } from './old-versions.js';
export type { ModuleOptions } from './on-module.js';
export type { IncomingHeaders, Propagator } from './propagator.js';
export type { UndiciOptions, UndiciRequest, UndiciResponse } from './undici.js';
