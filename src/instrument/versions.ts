// Versions of libraries that are traced, by package. docs/instrumentation.md has them as a table, which a test compares; untraced.ts reports older versions.

export interface Versions {
  /** The first that publishes what is traced. */
  readonly channels?: string;
  /** The first that is traced by what is put in place of its functions, until it publishes. */
  readonly patches?: string;
  /** What comes of one before the first: nothing, or a package of OpenTelemetry traces it. Where that is not said, it may have the functions too. */
  readonly before?: 'untraced' | 'official';
}

export const VERSIONS: Readonly<Record<string, Versions>> = {
  '@graphql-tools/executor': { patches: '2.0.0' },
  '@grpc/grpc-js': { patches: '1.0.0' },
  '@hapi/hapi': { patches: '20.0.0' },
  '@trpc/server': { patches: '10.0.0' },
  amqplib: { patches: '0.8.0', before: 'official' },
  // Packages `@aws-sdk/client-*` from 3 on.
  'aws-sdk': { patches: '3.0.0', before: 'official' },
  bluebird: { patches: '3.6.0' },
  bullmq: { patches: '4.0.0' },
  bunyan: { patches: '1.0.0' },
  express: { patches: '4.0.0' },
  fastify: { channels: '5.0.0', before: 'untraced' },
  graphql: { patches: '15.0.0', channels: '17.0.0', before: 'official' },
  h3: { channels: '2.0.0', before: 'untraced' },
  hono: { patches: '4.0.0' },
  ioredis: { patches: '4.0.0', channels: '5.11.0', before: 'official' },
  kafkajs: { patches: '1.0.0', before: 'official' },
  koa: { patches: '2.0.0' },
  mariadb: { patches: '3.1.0', before: 'untraced' },
  mongodb: { patches: '5.0.0', before: 'official' },
  // By what its driver does, until it publishes.
  mongoose: { patches: '7.0.0', channels: '9.7.0', before: 'official' },
  mysql: { patches: '2.0.0' },
  mysql2: { channels: '3.20.0', before: 'official' },
  pg: { patches: '8.0.0' },
  pino: { patches: '9.10.0', before: 'untraced' },
  postgres: { patches: '3.0.0' },
  redis: { channels: '5.12.0', before: 'official' },
  undici: { channels: '5.0.0' },
  winston: { patches: '3.0.0', before: 'official' },
};

/** Libraries that are not traced in any version, and what traces them. */
export const UNTRACED: Readonly<Record<string, 'official' | undefined>> = {
  '@confluentinc/kafka-javascript': undefined,
  'better-sqlite3': undefined,
  'cassandra-driver': 'official',
  connect: 'official',
  dataloader: 'official',
  'generic-pool': 'official',
  'lru-memoizer': 'official',
  memcached: 'official',
  oracledb: 'official',
  restify: 'official',
  'socket.io': 'official',
  tedious: 'official',
};

/** The first version of `name` that is traced, where nothing of an older one is. */
export const firstTraced = (name: string): string | undefined => {
  const { patches, channels, before } = VERSIONS[name] ?? {};
  return before === undefined ? undefined : (patches ?? channels);
};
