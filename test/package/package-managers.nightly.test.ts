// The command and `spanline/register`, installed by npm, pnpm and Yarn's Plug'n'Play from the tarballs that would be published, trace applications:
// ES modules and CommonJS, with nothing of ours installed, and with an API of OpenTelemetry of their own.
//
// What the managers cannot do, so that it has no case here:
// - `yarn dlx` takes no resolutions, and would look for our packages in the registry. The last case of Yarn is what it comes to: the command lies in one
//   project of Plug'n'Play and the application in another. Yarn refuses what two such projects have from the same cache, so the application keeps its own.
// - ES modules of an application under Plug'n'Play find packages only by Yarn's loader, with or without us: `pnpEnableEsmLoader`.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { build, type Outcome } from './consumer.js';
import { manifests, tarballsOf } from './installed.js';

const MANAGERS = ['pnpm@12.4.2', '@yarnpkg/cli-dist@4.18.1'];
const API = { '@opentelemetry/api': '1.9.1' };

const program = (first: string, inRequest: string): string => `${first}
http.createServer((request, response) => { ${inRequest} response.end('hello'); }).listen(0, async function () {
  await (await fetch('http://127.0.0.1:' + this.address().port + '/hello')).text();
  this.close();
});
`;
const ES = `import http from 'node:http';`;
const COMMON = `const http = require('node:http');`;
const SPAN = `trace.getTracer('shop').startSpan('of the API').end();`;
const FILES: Readonly<Record<string, string>> = {
  'app.mjs': program(ES, ''),
  'app.cjs': program(COMMON, ''),
  'api.mjs': program(`${ES} import { trace } from '@opentelemetry/api';`, SPAN),
  'api.cjs': program(`${COMMON} const { trace } = require('@opentelemetry/api');`, SPAN),
  // Dies with a file that is not sealed, which is work for the thread of who opens the archive then.
  'thread.mjs': `import { Archive, ArchiveReporter } from '@spanline/archive';
import { flush, LocalSpan, setReporter, Span, SpanContext } from 'spanline';
const archive = await Archive.open('thread');
if (process.argv[2] === 'die') {
  setReporter(new ArchiveReporter(archive));
  for (let trace = 0; trace < 20; trace++) {
    const root = Span.root('root', SpanContext.random());
    root.run(() => { for (let i = 0; i < 1000; i++) LocalSpan.start('local').end(); });
    root.end();
  }
  await flush();
  process.kill(process.pid, 'SIGKILL');
}
const { workerTasks, workerFailure } = await archive.stats();
console.log(workerTasks, workerFailure);
await archive.close();
`,
};
const ALL = ['app.mjs', 'app.cjs', 'api.mjs', 'api.cjs'];

const top = mkdtempSync(join(tmpdir(), 'spanline-managers-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const { NODE_OPTIONS: _, ...inherited } = process.env;
const env: NodeJS.ProcessEnv = {
  ...inherited,
  PATH: [join(top, 'tools/node_modules/.bin'), process.env.PATH].join(delimiter),
  // Nothing of this machine, and nothing left on it.
  npm_config_cache: join(top, 'npm'),
  XDG_CACHE_HOME: join(top, 'cache'),
  XDG_DATA_HOME: join(top, 'data'),
  YARN_GLOBAL_FOLDER: join(top, 'yarn'),
  YARN_ENABLE_TELEMETRY: '0',
  YARN_ENABLE_IMMUTABLE_INSTALLS: '0',
};

const run = (dir: string, command: string, variables: NodeJS.ProcessEnv = {}): Outcome => {
  const options = { cwd: dir, env: { ...env, ...variables }, encoding: 'utf8', shell: true } as const;
  const { status, stdout, stderr } = spawnSync(command, options);
  return { code: status, stdout, stderr };
};
const must = (dir: string, command: string): string => {
  const ran = run(dir, command);
  expect(ran, command).toMatchObject({ code: 0 });
  return ran.stdout;
};

/** A new folder of an application with further files. */
const folder = (name: string, files: Readonly<Record<string, string>> = {}): string => {
  const dir = join(top, name);
  mkdirSync(dir, { recursive: true });
  for (const [file, text] of Object.entries({ ...FILES, ...files })) writeFileSync(join(dir, file), text);
  return dir;
};
const manifest = (fields: object): string => JSON.stringify({ private: true, ...fields });

/** Name of each package of ours -> its tarball. */
const ours: Record<string, string> = {};
let byNpm: string;
beforeAll(() => {
  build();
  const folders = [...manifests.keys()];
  for (const [i, path] of tarballsOf(folders).entries())
    ours[manifests.get(folders[i])?.name as string] = `file:${path}`;
  const tarballs = Object.values(ours).map((one) => `--package=${one.slice('file:'.length)}`);
  byNpm = `npm exec --yes ${tarballs.join(' ')} -- spanline`;
  must(folder('tools', { 'package.json': manifest({}) }), `npm install --no-audit --no-fund ${MANAGERS.join(' ')}`);
});

/** A trace of each program, with the span of the API in it. */
const listed = (names: readonly string[]): object[] =>
  names.map((service) => ({ service, name: 'GET', spanCount: service.startsWith('api') ? 3 : 2 }));
const list = (dir: string, command: string): Record<string, unknown>[] =>
  must(dir, `${command} trace ls --archive traces --json`)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .reverse();

const expectTraced = (dir: string, command: string, names: readonly string[], node = 'node'): void => {
  for (const name of names) {
    const ran = run(dir, `${command} run --archive traces --service ${name} -- ${node} ${name}`);
    expect(ran, name).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('traces are in') });
  }
  expect(list(dir, command)).toMatchObject(listed(names));
};

const expectRegistered = (dir: string, node: string, command: string): void => {
  for (const [name, flag] of [
    ['app.mjs', '--import'],
    ['app.cjs', '--require'],
  ]) {
    const variables = { SPANLINE_ARCHIVE: 'traces', OTEL_SERVICE_NAME: name };
    const ran = run(dir, `${node} ${flag} spanline/register ${name}`, variables);
    expect(ran, name).toEqual({ code: 0, stdout: '', stderr: '' });
  }
  expect(list(dir, command)).toMatchObject(listed(['app.mjs', 'app.cjs']));
  run(dir, `${node} thread.mjs die`);
  expect(must(dir, `${node} thread.mjs`)).toBe('1 \n');
};

const expectNamed = (dir: string, node: string): void =>
  expect(run(dir, `${node} --import spanline/register app.mjs`, { SPANLINE_ARCHIVE: 'traces' })).toEqual({
    code: 0,
    stdout: '',
    stderr:
      'spanline: no traces are kept in traces: SPANLINE_ARCHIVE needs the package @spanline/archive: npm install @spanline/archive\n',
  });

describe('npm', () => {
  test('npx beside an application that has nothing installed, and beside one that has the API', () => {
    expectTraced(folder('npm-bare'), byNpm, ['app.mjs', 'app.cjs']);
    const dir = folder('npm-api', { 'package.json': manifest({ dependencies: API }) });
    must(dir, 'npm install --no-audit --no-fund');
    expectTraced(dir, byNpm, ['api.mjs', 'api.cjs']);
  });

  test('register, with the archive and without', () => {
    const dir = folder('npm-register', { 'package.json': manifest({}) });
    must(dir, `npm install --no-audit --no-fund ${ours.spanline}`);
    expectNamed(dir, 'node');
    must(dir, `npm install --no-audit --no-fund ${ours['@spanline/graph']} ${ours['@spanline/archive']}`);
    expectRegistered(dir, 'node', byNpm);
  });
});

describe('pnpm', () => {
  /** lmdb and msgpackr-extract have install scripts, which pnpm takes for an error until somebody has allowed or refused them. */
  const files = (fields: object): Record<string, string> => ({
    'package.json': manifest(fields),
    'pnpm-workspace.yaml': JSON.stringify({ overrides: ours, allowBuilds: { lmdb: false, 'msgpackr-extract': false } }),
  });

  test('the command as a development dependency, and by dlx', () => {
    const dir = folder('pnpm', files({ dependencies: API }));
    must(dir, `pnpm add -D ${ours['@spanline/cli']}`);
    expectTraced(dir, 'pnpm exec spanline', ALL);
    const dlx = folder('pnpm-dlx', files({ dependencies: API }));
    must(dlx, 'pnpm install');
    const allowed = '--allow-build=lmdb --allow-build=msgpackr-extract';
    must(dlx, `pnpm ${allowed} --package ${ours['@spanline/cli']} dlx spanline run --archive traces -- node api.mjs`);
    expect(list(dlx, byNpm)).toMatchObject([{ name: 'GET', spanCount: 3 }]);
  });

  test('an application of pnpm, and the command of npx', () => {
    const dir = folder('pnpm-api', { 'package.json': manifest({ dependencies: API }) });
    must(dir, 'pnpm install');
    expectTraced(dir, byNpm, ALL);
  });

  test('register, with the archive and without', () => {
    const dir = folder('pnpm-register', files({}));
    must(dir, `pnpm add ${ours.spanline}`);
    expectNamed(dir, 'node');
    must(dir, `pnpm add ${ours['@spanline/archive']}`);
    expectRegistered(dir, 'node', byNpm);
  });
});

describe("Yarn's Plug'n'Play", () => {
  const project = (name: string, fields: object, settings: object = {}): string => {
    const files = { 'package.json': manifest({ resolutions: ours, ...fields }), 'yarn.lock': '' };
    const dir = folder(name, { ...files, '.yarnrc.yml': JSON.stringify({ nodeLinker: 'pnp', ...settings }) });
    must(dir, 'yarn install');
    return dir;
  };
  const command = (): string =>
    project('yarn', { dependencies: API, devDependencies: { '@spanline/cli': ours['@spanline/cli'] } });

  test('the command as a development dependency; its page; an application that is another project', async () => {
    const dir = command();
    expectTraced(dir, 'yarn spanline', ALL);

    const ui = spawn('yarn', ['spanline', 'ui', '--archive', 'traces', '--no-open'], { cwd: dir, env, detached: true });
    try {
      for await (const line of createInterface({ input: ui.stdout })) {
        const address = /http:\S+/.exec(line)?.[0];
        if (address === undefined) continue;
        expect(await (await fetch(address)).text()).toContain('<script');
        break;
      }
    } finally {
      process.kill(-(ui.pid as number));
    }

    const other = project('yarn-other', { dependencies: API }, { enableGlobalCache: false, pnpEnableEsmLoader: true });
    for (const name of ['api.mjs', 'api.cjs'])
      must(dir, `yarn spanline run --archive ${other}/traces --service ${name} -- yarn --cwd ${other} node ${name}`);
    expect(list(other, byNpm)).toMatchObject(listed(['api.mjs', 'api.cjs']));
  });

  test("an application under Plug'n'Play, and the command of npx", () => {
    const dir = project('yarn-api', { dependencies: API }, { pnpEnableEsmLoader: true });
    expectTraced(dir, byNpm, ALL, 'yarn node');
  });

  test('register, with the archive and without', () => {
    const dir = project('yarn-register', { dependencies: { spanline: ours.spanline } });
    expectNamed(dir, 'yarn node');
    must(dir, `yarn add @spanline/archive@${ours['@spanline/archive']}`);
    expectRegistered(dir, 'yarn node', byNpm);
  });
});
