// Switches instrumentations on, and off again. Each is a file of its own; this one has only their names.
import { warn } from '../base/calls/attempt.js';
import { OptionError, wrongOption } from '../base/errors.js';
import { shown } from '../base/options/checks.js';
import { type AwsOptions, instrumentAws } from './aws/aws.js';
import { instrumentBluebird } from './bluebird.js';
import { allOff, type Off } from './channel.js';
import type { DatabaseOptions } from './db/database.js';
import { instrumentMariadb, type MariadbOptions } from './db/mariadb.js';
import { instrumentMongodb, type MongodbOptions } from './db/mongodb.js';
import { instrumentMongoose, type MongooseOptions } from './db/mongoose.js';
import { instrumentMysql, type MysqlOptions } from './db/mysql.js';
import { instrumentMysql2 } from './db/mysql2.js';
import { instrumentPg, type PgOptions } from './db/pg.js';
import { instrumentPostgres, type PostgresOptions } from './db/postgres.js';
import { type IoredisOptions, instrumentIoredis, instrumentRedis } from './db/redis.js';
import { instrumentSqlite } from './db/sqlite.js';
import { instrumentExpress } from './express.js';
import { type GraphqlOptions, instrumentGraphql } from './graphql.js';
import { type GrpcOptions, instrumentGrpc } from './grpc.js';
import { instrumentHapi } from './hapi.js';
import { instrumentHono } from './hono.js';
import { traceCalls } from './http/client.js';
import type { HttpOptions } from './http/options.js';
import { traceServers } from './http/server.js';
import { type Http2Options, traceHttp2Calls, traceHttp2Servers } from './http2/http2.js';
import { instrumentKoa } from './koa.js';
import { instrumentBunyan } from './log/bunyan.js';
import { instrumentConsole } from './log/console.js';
import { instrumentPino } from './log/pino.js';
import { instrumentWinston } from './log/winston.js';
import { type AmqplibOptions, instrumentAmqplib } from './messaging/amqplib.js';
import { type BullmqOptions, instrumentBullmq } from './messaging/bullmq.js';
import { instrumentKafkajs, type KafkajsOptions } from './messaging/kafkajs.js';
import { hookRefusal } from './on-es-module.js';
import type { ModuleOptions } from './on-module.js';
import type { Propagator } from './propagator.js';
import { instrumentFastify, instrumentH3 } from './routes.js';
import { switchOn } from './switched-on.js';
import { instrumentTrpc } from './trpc.js';
import { instrumentUndici, type UndiciOptions } from './undici.js';
import { reportUntraced, type VersionLog } from './untraced.js';
import { UNTRACED } from './versions.js';
import { instrumentWorkers } from './workers/workers.js';

/** What is traced, and how: true (the default but for `console`), false, or options. */
export interface InstrumentOptions {
  /** Servers and clients of `http` and `https`. */
  readonly http?: boolean | HttpOptions;
  /** Servers and clients of `http2`. */
  readonly http2?: boolean | Http2Options;
  /** Calls of undici, and of the global `fetch`. */
  readonly undici?: boolean | UndiciOptions;
  /** Routes of fastify 5. */
  readonly fastify?: boolean;
  /** Routes of express 4 and 5. */
  readonly express?: boolean | ModuleOptions;
  /** Routes of koa, by its routers. */
  readonly koa?: boolean | ModuleOptions;
  /** Routes of hapi. */
  readonly hapi?: boolean | ModuleOptions;
  /** Routes of hono. */
  readonly hono?: boolean | ModuleOptions;
  /** Routes of h3 2, by its plugin `h3/tracing`. */
  readonly h3?: boolean;
  /** Operations of graphql 15 and later. */
  readonly graphql?: boolean | GraphqlOptions;
  /** Procedures of tRPC. */
  readonly trpc?: boolean | ModuleOptions;
  /** Calls of @grpc/grpc-js, sent and answered. */
  readonly grpc?: boolean | GrpcOptions;
  /** Queries of pg. */
  readonly pg?: boolean | PgOptions;
  /** Queries of postgres 3 (postgres.js). */
  readonly postgres?: boolean | PostgresOptions;
  /** Queries of mariadb 3. */
  readonly mariadb?: boolean | MariadbOptions;
  /** Queries of mysql 2. */
  readonly mysql?: boolean | MysqlOptions;
  /** Queries of mysql2. */
  readonly mysql2?: boolean | DatabaseOptions;
  /** Commands of `redis`. */
  readonly redis?: boolean | DatabaseOptions;
  /** Commands of ioredis 4 and later. */
  readonly ioredis?: boolean | IoredisOptions;
  /** Commands of mongodb. */
  readonly mongodb?: boolean | MongodbOptions;
  /** Operations of mongoose. */
  readonly mongoose?: boolean | MongooseOptions;
  /** Queries of `node:sqlite`. */
  readonly sqlite?: boolean | DatabaseOptions;
  /** Messages of amqplib, sent and processed. */
  readonly amqplib?: boolean | AmqplibOptions;
  /** Messages of kafkajs, sent and processed. */
  readonly kafkajs?: boolean | KafkajsOptions;
  /** Jobs of bullmq, added and processed. */
  readonly bullmq?: boolean | BullmqOptions;
  /** Calls of the AWS SDK 3. */
  readonly 'aws-sdk'?: boolean | AwsOptions;
  /** Contexts of promises of bluebird. */
  readonly bluebird?: boolean | ModuleOptions;
  /** Messages to worker threads. */
  readonly workers?: boolean;
  /** Trace ids in the records of pino. */
  readonly pino?: boolean | ModuleOptions;
  /** Trace ids in the records of winston. */
  readonly winston?: boolean | ModuleOptions;
  /** Trace ids in the records of bunyan. */
  readonly bunyan?: boolean | ModuleOptions;
  /** Trace ids behind what `console` prints; false by default. */
  readonly console?: boolean;
  /** How contexts travel in headers; W3C Trace Context by default. */
  readonly propagator?: Propagator;
  /** Gets a message, once each, for libraries that are loaded in a version too old to be traced: `diag` of OpenTelemetry's API, say. */
  readonly log?: VersionLog;
}

/** Instrumentations that are on. */
export interface Instrumentation extends Disposable {
  /** Takes all of them back. Spans in flight still end. */
  disable(): void;
}

type Start = (options: never, propagator: Propagator) => Off;

/** Of both sides of a protocol, which are switched on by themselves. */
interface Sides {
  readonly server: Start;
  readonly client: Start;
}

/** Those of databases and caches. */
const DATABASES: Readonly<Record<string, Start>> = {
  pg: instrumentPg,
  postgres: instrumentPostgres,
  mariadb: instrumentMariadb,
  mysql: instrumentMysql,
  mysql2: instrumentMysql2,
  redis: instrumentRedis,
  ioredis: instrumentIoredis,
  mongodb: instrumentMongodb,
  mongoose: instrumentMongoose,
  sqlite: instrumentSqlite,
};

const STARTS: Readonly<Record<string, Start | Sides>> = {
  http: { server: traceServers, client: traceCalls },
  http2: { server: traceHttp2Servers, client: traceHttp2Calls },
  undici: instrumentUndici,
  fastify: instrumentFastify,
  express: instrumentExpress,
  koa: instrumentKoa,
  hapi: instrumentHapi,
  hono: instrumentHono,
  h3: instrumentH3,
  graphql: instrumentGraphql,
  trpc: instrumentTrpc,
  grpc: instrumentGrpc,
  ...DATABASES,
  amqplib: instrumentAmqplib,
  kafkajs: instrumentKafkajs,
  bullmq: instrumentBullmq,
  'aws-sdk': instrumentAws,
  bluebird: instrumentBluebird,
  workers: instrumentWorkers,
  pino: instrumentPino,
  winston: instrumentWinston,
  bunyan: instrumentBunyan,
  console: instrumentConsole,
};

export const databaseNames: readonly string[] = Object.keys(DATABASES);

// It changes what a program prints, which others may read.
const OFF_BY_DEFAULT: readonly string[] = ['console'];

/** Names that {@link instrument} takes. */
export const instrumentationNames: readonly string[] = Object.keys(STARTS);

/** Those that are found when they are loaded, unless they are handed over. */
const FOUND_AT_LOAD: readonly string[] =
  'express koa hapi hono trpc grpc pg postgres mariadb mysql ioredis mongodb mongoose amqplib kafkajs bullmq aws-sdk bluebird winston bunyan'.split(
    ' ',
  );

let isRefusalReported = false;

/** Logs once what may go untraced where loads of modules cannot be seen. */
const reportRefusal = (names: readonly string[], optionOf: (name: string) => unknown): void => {
  const isHandedOver = (name: string): boolean => Object(optionOf(name)).module !== undefined;
  const unseen = names.filter((name) => FOUND_AT_LOAD.includes(name) && !isHandedOver(name));
  const reason = hookRefusal();
  if (isRefusalReported || reason === undefined || unseen.length === 0) return;
  isRefusalReported = true;
  const message = `Modules cannot be seen being loaded here, so of ${unseen.join(', ')} only what is handed over is surely traced, as in instrument({ ${unseen[0]}: { module } }): ${reason}`;
  warn(message, 'SPANLINE_NO_MODULE_HOOKS');
};

const checkOption = (name: string, value: unknown): void => {
  if (value === undefined || typeof value === 'boolean' || (typeof value === 'object' && value !== null)) return;
  throw wrongOption(`Option "${name}" must be true, false or an object, not ${shown(value)}`);
};

/** What one option switches on: the name of each part, how it starts, and what is said of it. */
const partsOf = (name: string, option: unknown): (readonly [part: string, start: Start, option: unknown])[] => {
  const start = STARTS[name];
  if (typeof start === 'function') return [[name, start, option]];
  const sides = option as { readonly server?: unknown; readonly client?: unknown };
  return (['server', 'client'] as const)
    .filter((side) => sides[side] !== false)
    .map((side) => [`${name} ${side}`, start[side], sides[side]]);
};

/**
 * Trace libraries from outside, by what they publish. Every request that comes in is a root, every call that goes out a child of what
 * makes it, and the context travels in their headers. Names and properties are OpenTelemetry's stable conventions.
 *
 * What is on already, by `spanline/register` or another call, is not switched on twice: options that are given here hold until this is disabled.
 *
 * Throws `ERR_SPANLINE_OPTION` for an unknown name, and then changes nothing.
 *
 * @example
 * ```ts
 * import { instrument } from 'spanline/instrument';
 *
 * const instrumentation = instrument({
 *   http: { server: { ignore: ({ url }) => url === '/health', requestHeaders: ['x-request-id'] } },
 *   undici: { requireParent: true },
 * });
 * instrumentation.disable();
 * ```
 */
export const instrument = (options: InstrumentOptions = {}): Instrumentation => {
  if (typeof options !== 'object' || options === null)
    throw wrongOption(`instrument takes an object, not ${shown(options)}`);
  const { propagator, log, ...wanted } = options;
  for (const [name, value] of Object.entries(wanted)) {
    if (!(name in STARTS)) {
      throw new OptionError(
        `Unknown option "${name}". Known: ${[...instrumentationNames, 'propagator', 'log'].join(', ')}.`,
      );
    }
    checkOption(name, value);
  }
  const optionOf = (name: string): unknown =>
    (wanted as Record<string, unknown>)[name] ?? !OFF_BY_DEFAULT.includes(name);
  const names = instrumentationNames.filter((name) => optionOf(name) !== false);
  const offs: Off[] = [];
  try {
    for (const [part, start, option] of names.flatMap((name) => partsOf(name, optionOf(name)))) {
      const own = typeof option === 'object' ? option : undefined;
      offs.push(
        switchOn(part, {
          hasOptions: own !== undefined,
          propagator,
          start: (chosen) => start((own ?? {}) as never, chosen),
        }),
      );
    }
    if (log !== undefined) offs.push(reportUntraced([...names, ...Object.keys(UNTRACED)], log));
    reportRefusal(names, optionOf);
  } catch (error) {
    allOff(offs)();
    throw error;
  }
  let isOn = true;
  const disable = (): void => {
    if (isOn) allOff(offs)();
    isOn = false;
  };
  return { disable, [Symbol.dispose]: disable };
};
