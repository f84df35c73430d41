// turborepo-remote-cache, on fastify 5 and pino, runs under `spanline/register` as it is (support/applications.ts says what is asked of it).
import { describe } from 'vitest';
import { buildFirst, scratch } from '../support/built.js';
import { type Application, json, suite } from './support/applications.js';

buildFirst();

const TOKEN = { authorization: 'Bearer secret' };
const artifact = '/v8/artifacts/abc?teamId=team_one';
const put: RequestInit = {
  method: 'PUT',
  headers: { ...TOKEN, 'content-type': 'application/octet-stream' },
  body: 'x'.repeat(20_000),
};
const turborepo = (folder: string): Application => ({
  name: 'turborepo-remote-cache',
  program: 'turborepo-remote-cache/dist/cli.js',
  ready: /Server listening/,
  env: (port) => ({
    PORT: String(port),
    HOST: '127.0.0.1',
    TURBO_TOKEN: 'secret',
    STORAGE_PATH: folder,
    STORAGE_PATH_USE_TMP_FOLDER: 'false',
  }),
  requests: [
    ['/v8/artifacts/status', { headers: TOKEN }],
    [artifact, put],
    [artifact, { headers: TOKEN }],
    [artifact, { method: 'HEAD', headers: TOKEN }],
    ['/v8/artifacts/none?teamId=team_one', { headers: TOKEN }],
    [artifact],
    ['/v8/artifacts/events', json('POST', [], TOKEN)],
    ['/nowhere'],
  ],
  load: [
    [artifact, { headers: TOKEN }],
    [artifact, put],
    ['/v8/artifacts/status', { headers: TOKEN }],
  ],
});

describe('turborepo-remote-cache, on fastify 5 and pino', () => {
  suite(turborepo(scratch()));
});
