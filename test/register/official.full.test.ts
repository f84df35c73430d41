// A program's own packages of OpenTelemetry's instrumentations run on this recorder, but for those that ours stand for.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { startServer, type TestServer } from '../exporters/support/http-server.js';
import { decodeSpans } from '../exporters/support/otlp-decode.js';
import { hasFerretdb, startFerretdb } from '../instrument/db/ferretdb.js';
import { installedAs } from '../instrument/installed-as.js';
import { buildFirst, root } from '../support/built.js';
import { out, runFile } from '../support/child.js';

buildFirst();

const libraries = fileURLToPath(new URL('../instrument/libraries/node_modules/', import.meta.url));
let sink: TestServer | undefined;
afterEach(async () => {
  await sink?.close();
  sink = undefined;
});

/** A package with these dependencies, whose program looks up a name under a span. */
const program = (name: string, dependencies: readonly string[]): string => {
  const folder = join(out, name);
  mkdirSync(join(folder, 'node_modules/@opentelemetry'), { recursive: true });
  for (const one of dependencies) symlinkSync(join(libraries, one), join(folder, 'node_modules', one));
  symlinkSync(join(root), join(folder, 'node_modules/spanline'));
  const versions = Object.fromEntries(dependencies.map((one) => [one, '*']));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, dependencies: versions }));
  const file = join(folder, 'app.cjs');
  writeFileSync(
    file,
    `const { Span } = require('spanline');
     const { lookup } = require('node:dns');
     const root = Span.root('work');
     root.run(() => lookup('localhost', () => root.end()));`,
  );
  return file;
};

const run = async (file: string, env: Readonly<Record<string, string>> = {}, first: readonly string[] = []) => {
  sink = await startServer();
  const child = await runFile(file, {
    execArgv: [...first, '--import', 'spanline/register'],
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, OTEL_TRACES_EXPORTER: '', SPANLINE_ARCHIVE: '', ...env },
  });
  return { ...child, spans: sink.requests.flatMap(({ body }) => decodeSpans(body)) };
};

test('one without a counterpart here is loaded', async () => {
  const { spans, code, stderr } = await run(program('with-dns', ['@opentelemetry/instrumentation-dns']));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const work = spans.find(({ name }) => name === 'work');
  expect(spans.find(({ scope }) => scope === '@opentelemetry/instrumentation-dns')).toMatchObject({
    name: 'dns.lookup',
    parentSpanId: work?.spanId,
  });
});

test.each([
  ['ioredis', '3.2.2', '4.0.0'],
  ['graphql', '14.7.0', '15.0.0'],
])('one of a library in a version that is not traced here is loaded: %s', async (library, old, first) => {
  const official = `@opentelemetry/instrumentation-${library}`;
  const said = async (version: string): Promise<string> => {
    const file = program(`${library}-${version}`, [official]);
    const folder = join(file, '../node_modules', library);
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: library, version }));
    writeFileSync(join(folder, 'index.js'), '');
    writeFileSync(file, `require('${library}');`);
    return (await run(file, { OTEL_LOG_LEVEL: 'debug' })).stderr;
  };
  const loaded = `also traced: ${official}`;
  const ofOld = await said(old);
  expect(ofOld).toContain(loaded);
  // And then nobody is told that it is not traced.
  expect(ofOld).not.toContain('not traced by spanline');
  expect(await said(first)).not.toContain(loaded);
});

/** What register says of a program with an `official` package, and with its `library` in a version. */
const saidWith = async (official: string, library: string, version: string, env = {}): Promise<string> => {
  const file = program(`${library}-${version}-${Object.keys(env).length}`, []);
  const files = {
    [`${library}/package.json`]: JSON.stringify({ name: library, version }),
    [`${library}/index.js`]: '',
    [`${official}/package.json`]: JSON.stringify({ name: official, version: '0.50.0' }),
    [`${official}/index.js`]: 'exports.SomeInstrumentation = class SomeInstrumentation { enable() {} };',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(file, '../node_modules', path, '..'), { recursive: true });
    writeFileSync(join(file, '../node_modules', path), text);
  }
  writeFileSync(join(file, '../package.json'), JSON.stringify({ dependencies: { [library]: '*', [official]: '*' } }));
  writeFileSync(file, `require('${library}');`);
  return (await run(file, { OTEL_LOG_LEVEL: 'debug', ...env })).stderr;
};

test.each([
  ['by its older name', 'redis-4', 'redis', '4.7.1'],
  ['of an SDK that has another name since', 'aws-sdk', 'aws-sdk', '2.1692.0'],
])('%s too', async (_, short, library, version) => {
  const said = await saidWith(`@opentelemetry/instrumentation-${short}`, library, version);
  expect(said).toContain(`also traced: @opentelemetry/instrumentation-${short}`);
  expect(said).not.toContain('not traced by spanline');
});

test('that of Prisma, which is its own', async () => {
  const own = '@prisma/instrumentation';
  expect(await saidWith(own, 'prisma-shop', '1.0.0')).toContain(`also traced: ${own}`);
  const off = await saidWith(own, 'prisma-shop', '1.0.0', { OTEL_NODE_DISABLED_INSTRUMENTATIONS: 'prisma' });
  expect(off).not.toContain(own);
});

test('that of mysql is never', async () => {
  expect(await saidWith('@opentelemetry/instrumentation-mysql', 'mysql', '2.0.0')).toBe('');
});

test.each([
  [
    'graphql',
    'graphql-16',
    `import { graphql, buildSchema } from 'graphql';
     const schema = buildSchema('type Query { a: Int }');
     await graphql({ schema, source: '{ a }', rootValue: { a: async () => 1 } });`,
    ['query'],
  ],
  [
    'ioredis',
    'ioredis-5-10',
    `import Redis from 'ioredis';
     const client = new Redis({ port: 1, maxRetriesPerRequest: 0, retryStrategy: () => null }).on('error', () => {});
     await client.get('a').catch(() => {});`,
    ['dns.lookup', 'GET'],
  ],
])(
  'one of a library in a version that is traced here is not, beside one that is: %s',
  async (name, alias, text, names) => {
    const { folder } = installedAs(name, alias);
    const dependencies = [name, 'dns'].map((one) => `@opentelemetry/instrumentation-${one}`);
    mkdirSync(join(folder, 'node_modules/@opentelemetry'));
    // With its loader of ES modules.
    for (const one of ['@opentelemetry/instrumentation', ...dependencies])
      symlinkSync(join(libraries, one), join(folder, 'node_modules', one));
    symlinkSync(root, join(folder, 'node_modules/spanline'));
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ dependencies: Object.fromEntries(dependencies.map((one) => [one, '*'])) }),
    );
    const file = join(folder, 'app.mjs');
    writeFileSync(file, text);
    const { spans, code, stderr } = await run(file, { OTEL_LOG_LEVEL: 'debug' });
    expect({ code, stderr }).toEqual({ code: 0, stderr: `spanline: also traced: ${dependencies[1]}\n` });
    expect(spans.map((span) => span.name)).toEqual(names);
  },
);

test.skipIf(!hasFerretdb)('beside ours of mongodb and mongoose: a span for each command', async () => {
  const server = await startFerretdb();
  const file = program('with-mongodb', [
    '@opentelemetry/instrumentation-mongodb',
    '@opentelemetry/instrumentation-mongoose',
    'mongodb',
    'mongoose-8',
  ]);
  // Programs of ES modules are patched in another way.
  const module = join(file, '../app.mjs');
  writeFileSync(
    module,
    `import { Span } from 'spanline';
     import { MongoClient } from 'mongodb';
     import mongoose from 'mongoose-8';
     const client = new MongoClient(${JSON.stringify(server.url)});
     await mongoose.connect(${JSON.stringify(server.url)}, { autoIndex: false, autoCreate: false });
     const User = mongoose.model('User', new mongoose.Schema({ name: String }));
     await Span.root('work').runToEnd(async () => {
       await client.db().collection('users').findOne({});
       await User.findOne({});
     });
     await Promise.all([client.close(), mongoose.disconnect()]);`,
  );
  const { spans, stderr } = await run(module);
  await server.stop();
  expect(stderr).toBe('');
  const work = spans.find(({ name }) => name === 'work');
  const finds = spans.filter(({ traceId }) => traceId === work?.traceId && traceId !== undefined);
  expect(finds.map(({ name, scope, parentSpanId }) => [name, scope, parentSpanId === work?.spanId])).toEqual([
    ['work', 'spanline', false],
    ['find users', 'spanline/instrument/mongodb', true],
    ['find users', 'spanline/instrument/mongodb', true],
  ]);
});

test.each([
  ['amqplib', '0.7.1', '0.8.0'],
  ['kafkajs', '0.9.0', '1.0.0'],
  ['mongodb', '4.17.2', '5.0.0'],
])('of %s the official one alone for what is older, and ours alone from there on', async (library, older, first) => {
  const official = `@opentelemetry/instrumentation-${library}`;
  const isStarted = async (version: string): Promise<boolean> => {
    const file = program(`with-${library}-${version}`, [official]);
    const folder = join(file, '../node_modules', library);
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: library, version }));
    writeFileSync(join(folder, 'index.js'), '');
    const { stderr } = await run(file, { OTEL_LOG_LEVEL: 'debug' });
    return stderr.includes(`also traced: ${official}`);
  };
  expect([await isStarted(older), await isStarted(first)]).toEqual([true, false]);
});

test('switched off by its name', async () => {
  const file = program('dns-off', ['@opentelemetry/instrumentation-dns']);
  const { spans } = await run(file, { OTEL_NODE_DISABLED_INSTRUMENTATIONS: 'dns' });
  expect(spans.map(({ name }) => name)).toEqual(['work']);
});

test('one that cannot be loaded is a line, and the program runs', async () => {
  const file = program('broken', []);
  writeFileSync(
    join(file, '../package.json'),
    JSON.stringify({ dependencies: { '@opentelemetry/instrumentation-nothing': '*' } }),
  );
  const { spans, stderr } = await run(file);
  expect(stderr).toMatch(/^spanline: @opentelemetry\/instrumentation-nothing is not used: Cannot find module/);
  expect(spans).toHaveLength(1);
});
