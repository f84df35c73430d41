// unleash, on express 4 and PostgreSQL, runs under `spanline/register` as it is (support/applications.ts says what is asked of it).
import { afterAll, beforeAll, describe } from 'vitest';
import { hasPostgres, type Postgres, startPostgres } from '../instrument/db/postgres.js';
import { buildFirst } from '../support/built.js';
import { type Application, json, suite } from './support/applications.js';

buildFirst();

const unleash = (host: () => string): Application => ({
  name: 'unleash',
  program: 'unleash-server/dist/server.js',
  ready: /Unleash has started/,
  env: (port) => ({
    HTTP_PORT: String(port),
    HTTP_HOST: '127.0.0.1',
    DATABASE_HOST: host(),
    DATABASE_USERNAME: 'test',
    DATABASE_PASSWORD: '-',
    DATABASE_NAME: 'unleash',
    DATABASE_SSL: 'false',
    AUTH_TYPE: 'none',
    CHECK_VERSION: 'false',
    SEND_TELEMETRY: 'false',
    LOG_LEVEL: 'info',
    INIT_CLIENT_API_TOKENS: '*:development.secret',
  }),
  requests: [
    ['/health'],
    ['/api/admin/projects'],
    ['/api/admin/projects/default/features', json('POST', { name: 'first', type: 'release' })],
    ['/api/admin/projects/default/features/first'],
    ['/api/admin/projects/default/features', json('POST', { name: 'first', type: 'release' })],
    ['/api/admin/nowhere'],
  ],
  // A middleware at `/api` answers it.
  namedApart: ['GET /api/admin/nowhere 404'],
  load: [
    ['/api/client/features', { headers: { authorization: '*:development.secret' } }],
    ['/api/admin/projects/default/features/first'],
    ['/health'],
  ],
});

describe.skipIf(!hasPostgres)('unleash, on express 4 and PostgreSQL', () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 60_000);
  afterAll(() => postgres?.stop());
  suite(
    unleash(() => postgres.host),
    () => postgres.run('DROP DATABASE IF EXISTS unleash WITH (FORCE);\nCREATE DATABASE unleash'),
  );
});
