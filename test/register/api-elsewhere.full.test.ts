// Where this package lies elsewhere (installed globally, in another workspace), spans are recorded of the API's package that the program has, or of
// the copy that Next.js brings; however the program is started.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startServer } from '../exporters/support/http-server.js';
import { decodeSpans } from '../exporters/support/otlp-decode.js';
import { buildFirst, root } from '../support/built.js';
import { runFile } from '../support/child.js';

buildFirst();

/** A project of its own, outside this one, and another one that has this package but no API. */
const projects = (
  apiPlace: string,
): { readonly program: string; readonly spanline: string; readonly command: string; readonly folder: string } => {
  const folder = mkdtempSync(join(tmpdir(), 'spanline-elsewhere-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const spanline = join(folder, 'global/node_modules/spanline');
  const beside = join(dirname(spanline), '@spanline');
  const packages = readdirSync(join(root, 'packages')).map((name) => [`packages/${name}`, join(beside, name)] as const);
  for (const [from, to] of [['', spanline] as const, ...packages]) {
    for (const part of ['package.json', 'dist/esm', 'dist/cjs'])
      cpSync(join(root, from, part), join(to, part), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules/commander'), join(dirname(spanline), 'commander'));
  const api = join(folder, 'app/node_modules', apiPlace);
  for (const part of ['package.json', 'build/src'])
    cpSync(join(root, 'node_modules/@opentelemetry/api', part), join(api, part), { recursive: true });
  const program = join(folder, 'app/bin/app.cjs');
  mkdirSync(dirname(program));
  writeFileSync(
    program,
    `const { createServer, get } = require('node:http');
     const { trace } = require(${JSON.stringify(apiPlace)});
     const server = createServer((_, response) => trace.getTracer('shop').startActiveSpan('order', (span) => { span.end(); response.end('ok'); }))
       .listen(0, () => get({ port: server.address().port, agent: false }, (answer) => answer.resume().on('end', () => server.close())));`,
  );
  return { program, spanline, command: join(beside, 'cli/dist/cjs/main.js'), folder };
};

test.each([
  ['the package of the program', '@opentelemetry/api'],
  ['the copy that Next.js brings', 'next/dist/compiled/@opentelemetry/api'],
])('where this package lies elsewhere, spans are recorded of %s', async (_, apiPlace) => {
  const { program, spanline, command, folder } = projects(apiPlace);
  // As a command in node_modules/.bin is started.
  const link = join(folder, 'app/node_modules/.bin/app');
  mkdirSync(dirname(link));
  symlinkSync('../../bin/app.cjs', link);
  const ways = [program, link].flatMap((file) => [
    { file, execArgv: ['--import', join(spanline, 'dist/esm/register/preload.js')] },
    { file, execArgv: ['--require', join(spanline, 'dist/cjs/register/index.js')] },
    { file: command, args: ['run', '--', process.execPath, file] },
  ]);
  for (const { file, ...how } of ways) {
    const sink = await startServer();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, OTEL_TRACES_EXPORTER: '', SPANLINE_ARCHIVE: '' };
    const child = await runFile(file, { ...how, env, cwd: folder });
    expect(child).toMatchObject({ code: 0, stderr: '' });
    const spans = sink.requests.flatMap(({ body }) => decodeSpans(body));
    const order = spans.find(({ name }) => name === 'order');
    expect(spans.map(({ name }) => name).sort()).toEqual(['GET', 'GET', 'order']);
    expect(spans.find(({ kind }) => kind === 2)?.spanId).toBe(order?.parentSpanId);
    await sink.close();
  }
});
