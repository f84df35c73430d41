// Applications that others wrote, as npm has them: how each is started, what it needs, and what it is asked.
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../../scripts/lib/run.mjs';
import { graphql, send } from './requests.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const installed = (path) => join(HERE, 'node_modules', path);
/** Those that a test runs too are installed there. */
const ofTests = (name, path) => {
  const folder = join(root, 'test/register/applications', name);
  return { folder, program: join(folder, 'node_modules', path) };
};

const write = (folder, name, content) => {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  writeFileSync(join(folder, name), text);
};

const cache = { authorization: 'Bearer secret' };
const artifact = '/v8/artifacts/abc?teamId=team_one';
const put = {
  method: 'PUT',
  headers: { ...cache, 'content-type': 'application/octet-stream' },
  body: 'x'.repeat(2000),
};
const toggles = ['/api/client/features', { headers: { authorization: '*:development.secret' } }];
const parse = { 'x-parse-application-id': 'shop' };

const TARBALL = Buffer.from('not really a tarball').toString('base64');
const thing = {
  name: 'thing',
  'dist-tags': { latest: '1.0.0' },
  versions: { '1.0.0': { name: 'thing', version: '1.0.0', dist: { tarball: 'http://localhost/thing-1.0.0.tgz' } } },
  _attachments: { 'thing-1.0.0.tgz': { content_type: 'application/octet-stream', data: TARBALL, length: 20 } },
};

/** Two ways in, of which the second asks the first over HTTP. */
const flow = (port) => {
  const wire = (id, type, more, ...to) => ({ id, type, z: 'tab', wires: [to], x: 0, y: 0, ...more });
  return [
    { id: 'tab', type: 'tab', label: 'flow' },
    wire('in', 'http in', { url: '/hello/:id', method: 'get' }, 'say'),
    wire('say', 'function', { func: 'msg.payload = { hello: msg.req.params.id };\nreturn msg;', outputs: 1 }, 'out'),
    wire('far', 'http in', { url: '/far/:id', method: 'get' }, 'ask'),
    wire('ask', 'http request', { method: 'GET', ret: 'obj', url: `http://127.0.0.1:${port}/hello/7` }, 'out'),
    wire('out', 'http response', {}),
  ];
};

/** @type {import('./list.mjs').Application[]} */
export const READY_MADE = [
  {
    name: 'unleash',
    of: 'express 4, knex, pg',
    ...ofTests('unleash', 'unleash-server/dist/server.js'),
    // It finds out some time after.
    mask: /"lifecycle":\{.*?\},?/g,
    needs: ['postgres'],
    env: ({ port, database, postgres }) => ({
      HTTP_PORT: String(port),
      HTTP_HOST: '127.0.0.1',
      DATABASE_HOST: postgres.host,
      DATABASE_PORT: String(postgres.port),
      DATABASE_USERNAME: 'test',
      DATABASE_PASSWORD: '-',
      DATABASE_NAME: database,
      DATABASE_SSL: 'false',
      AUTH_TYPE: 'none',
      CHECK_VERSION: 'false',
      SEND_TELEMETRY: 'false',
      INIT_CLIENT_API_TOKENS: '*:development.secret',
    }),
    requests: [
      ['/health'],
      ['/api/admin/projects/default/features', send('POST', { name: 'first', type: 'release' })],
      ['/api/admin/projects/default/features/first'],
      ['/api/admin/nowhere'],
      toggles,
    ],
    load: [toggles, ['/api/admin/projects/default/features/first'], ['/health']],
  },
  {
    name: 'turborepo-remote-cache',
    of: 'fastify 5',
    ...ofTests('turborepo-remote-cache', 'turborepo-remote-cache/dist/cli.js'),
    env: ({ port, folder }) => ({
      PORT: String(port),
      HOST: '127.0.0.1',
      TURBO_TOKEN: 'secret',
      STORAGE_PATH: folder,
      STORAGE_PATH_USE_TMP_FOLDER: 'false',
    }),
    requests: [
      [artifact, put],
      [artifact, { headers: cache }],
      ['/v8/artifacts/status', { headers: cache }],
      [artifact],
    ],
    load: [
      [artifact, { headers: cache }],
      ['/v8/artifacts/status', { headers: cache }],
    ],
  },
  {
    name: 'json-server',
    of: 'express 4',
    program: installed('json-server/lib/cli/bin.js'),
    prepare: ({ folder }) =>
      write(folder, 'db.json', {
        posts: Array.from({ length: 20 }, (_, id) => ({ id, title: `post ${id}`, authorId: id % 3 })),
        authors: [0, 1, 2].map((id) => ({ id, name: `author ${id}` })),
      }),
    args: ({ folder, port }) => [join(folder, 'db.json'), '--port', String(port), '--host', '127.0.0.1', '--quiet'],
    requests: [
      ['/posts/1'],
      ['/posts?authorId=1&_expand=author'],
      ['/posts', send('POST', { title: 'new' })],
      ['/none'],
    ],
    load: [['/posts/1'], ['/posts?authorId=1&_expand=author'], ['/authors/2?_embed=posts']],
  },
  {
    name: 'verdaccio',
    of: 'express 4',
    program: installed('verdaccio/bin/verdaccio'),
    prepare: ({ folder }) => {
      const rights = '{ access: $all, publish: $all, unpublish: $all }';
      const lines = ['storage: ./storage', 'auth: { htpasswd: { file: ./htpasswd } }', `packages: { '**': ${rights} }`];
      const quiet = ['log: { type: stdout, format: json, level: warn }', 'userRateLimit: { max: 100000000 }'];
      write(folder, 'config.yaml', `${[...lines, ...quiet].join('\n')}\n`);
    },
    args: ({ folder, port }) => ['--config', join(folder, 'config.yaml'), '--listen', `127.0.0.1:${port}`],
    requests: [['/-/ping'], ['/thing', send('PUT', thing)], ['/thing'], ['/thing/-/thing-1.0.0.tgz'], ['/none']],
    load: [['/-/ping'], ['/thing'], ['/thing/-/thing-1.0.0.tgz']],
  },
  {
    name: 'node-red',
    of: 'express 4, got',
    program: installed('node-red/red.js'),
    prepare: ({ folder, port }) => {
      write(folder, 'flows.json', flow(port));
      const settings = { uiHost: '127.0.0.1', uiPort: port, httpAdminRoot: false, telemetry: { enabled: false } };
      write(folder, 'settings.js', `module.exports = ${JSON.stringify(settings)};\n`);
    },
    args: ({ folder }) => ['--userDir', folder, '--settings', join(folder, 'settings.js'), 'flows.json'],
    ready: '/hello/0',
    requests: [['/hello/1'], ['/far/1'], ['/nowhere']],
    load: [['/hello/1'], ['/far/1']],
  },
  {
    name: 'redis-commander',
    of: 'express 4, ioredis',
    program: installed('redis-commander/bin/redis-commander.js'),
    needs: ['redis'],
    // It keeps its settings beside itself unless told where.
    prepare: ({ folder }) => cpSync(installed('redis-commander/config'), join(folder, 'config'), { recursive: true }),
    env: ({ folder }) => ({ NODE_CONFIG_DIR: join(folder, 'config') }),
    args: ({ port, redis }) => [
      ...['--address', '127.0.0.1', '--port', String(port), '--nosave', '--no-log-data', '--redis-label', 'own'],
      ...['--redis-host', '127.0.0.1', '--redis-port', String(redis.port)],
    ],
    async signIn(port) {
      const answer = await fetch(`http://127.0.0.1:${port}/signin`, { method: 'POST' });
      const { bearerToken } = await answer.json();
      return { authorization: `Bearer ${bearerToken}` };
    },
    asked({ redis }) {
      const connection = `R:127.0.0.1:${redis.port}:0`;
      const key = `/apiv2/key/${connection}/color`;
      const load = [[key], [`/apiv1/keystree/${connection}`], ['/connections']];
      const set = [key, send('POST', { keyType: 'string', stringValue: 'red' })];
      return { load, requests: [set, [`/apiv2/key/${connection}/none`], ['/nowhere']] };
    },
  },
  {
    name: 'parse-server',
    of: 'express 5, pg-promise, graphql 16',
    program: installed('parse-server/bin/parse-server'),
    mask: /"objectId":"\w+"/g,
    needs: ['postgres'],
    env: ({ port, database, folder, postgres }) => ({
      PORT: String(port),
      PARSE_SERVER_HOST: '127.0.0.1',
      PARSE_SERVER_APPLICATION_ID: 'shop',
      PARSE_SERVER_MASTER_KEY: 'master',
      PARSE_SERVER_URL: `http://127.0.0.1:${port}/parse`,
      PARSE_SERVER_DATABASE_URI: `postgres://test@127.0.0.1:${postgres.port}/${database}`,
      PARSE_SERVER_LOGS_FOLDER: join(folder, 'logs'),
      PARSE_SERVER_ALLOW_CLIENT_CLASS_CREATION: 'true',
      PARSE_SERVER_MOUNT_GRAPHQL: 'true',
    }),
    requests: [
      ['/parse/health', { headers: parse }],
      ['/parse/classes/Score', send('POST', { player: 'Ada' }, parse)],
      ['/parse/classes/Score?order=createdAt&limit=1', { headers: parse }],
      ['/graphql', send('POST', { query: '{ health }' }, parse)],
      ['/parse/classes/Score/none', { headers: parse }],
    ],
    load: [
      ['/parse/classes/Score?order=createdAt&limit=1', { headers: parse }],
      ['/parse/health', { headers: parse }],
      ['/graphql', send('POST', { query: '{ health }' }, parse)],
    ],
  },
  {
    name: 'postgraphile',
    of: 'http, graphql 15, pg',
    folder: join(HERE, 'postgraphile'),
    program: join(HERE, 'postgraphile/node_modules/postgraphile/cli.js'),
    needs: ['postgres'],
    prepare: ({ database, postgres }) =>
      postgres.run(
        `create table authors (id int primary key, name text);
         create table books (id int primary key, title text, author_id int references authors);
         insert into authors values (1, 'Astrid');
         insert into books select i, 'book ' || i, 1 from generate_series(1, 10) i;`,
        database,
      ),
    args: ({ port, database, postgres }) => [
      ...['--connection', `postgres://test@127.0.0.1:${postgres.port}/${database}`, '--schema', 'public'],
      ...['--host', '127.0.0.1', '--port', String(port), '--disable-query-log', '--disable-graphiql'],
    ],
    requests: [
      graphql('{ allBooks(first: 3) { nodes { id title } } }'),
      graphql('{ authorById(id: 1) { name booksByAuthorId { nodes { title } } } }'),
      graphql('mutation { updateBookById(input: { id: 1, bookPatch: { title: "new" } }) { book { title } } }'),
      graphql('{ nothing }'),
    ],
    load: [
      graphql('{ bookById(id: 2) { title } }'),
      graphql('{ authorById(id: 1) { name booksByAuthorId { nodes { title } } } }'),
    ],
  },
  {
    name: 's3rver',
    of: 'koa 2',
    program: installed('s3rver/bin/s3rver.js'),
    prepare: ({ folder }) => mkdirSync(join(folder, 'shop'), { recursive: true }),
    args: ({ folder, port }) => [
      ...['--directory', folder, '--address', '127.0.0.1', '--port', String(port), '--silent', '--no-vhost-buckets'],
      ...['--configure-bucket', 'shop'],
    ],
    requests: [['/shop/one', put], ['/shop/one'], ['/shop?list-type=2'], ['/shop/none'], ['/']],
    load: [['/shop/one'], ['/shop?list-type=2']],
  },
];
