// The built package as ES module, as CommonJS, twice in one process with one trace, and bundled by esbuild.
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { out, resultOf, root, runFile } from '../support/child.js';

const write = (name: string, text: string): string => {
  const file = join(out, name);
  writeFileSync(file, text);
  return file;
};

// `spanline` resolves to this package itself, as for anyone inside it.
const PROGRAM = `
const memory = new MemoryReporter();
setReporter(memory);
const root = Span.root('root');
root.run(async () => { LocalSpan.start('a').end(); await null; LocalSpan.start('b').end(); }).then(async () => {
  root.end();
  await flush();
  console.log(JSON.stringify({ tree: memory.tree(), path: clockInfo().path }));
});
`;
const NAMES = '{ clockInfo, flush, LocalSpan, Span, setReporter }';
const ESM = `import ${NAMES} from 'spanline';\nimport { MemoryReporter } from 'spanline/exporters/memory';\n${PROGRAM}`;
const CJS = `const ${NAMES} = require('spanline');\nconst { MemoryReporter } = require('spanline/exporters/memory');\n${PROGRAM}`;
const TREE = 'root\n  a\n  b';

test('ES module', async () => {
  expect(resultOf(await runFile(write('esm.mjs', ESM))).tree).toBe(TREE);
});

test('CommonJS', async () => {
  expect(resultOf(await runFile(write('cjs.cjs', CJS))).tree).toBe(TREE);
});

test.each([
  ['esm', 'mjs'],
  ['cjs', 'cjs'],
] as const)('bundled by esbuild as %s, minified', async (format, extension) => {
  const outfile = join(out, `bundled.${extension}`);
  await build({
    entryPoints: [write('entry.mjs', ESM)],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    format,
    logLevel: 'silent',
  });
  expect(resultOf(await runFile(outfile)).tree).toBe(TREE);
});

test('a bundle that uses one name only still has its default collector', async () => {
  const program = `import { Span } from 'spanline';
const [span, collector] = Span.rootWithCollector('job');
span.end();
collector.collect().then((records) => console.log(JSON.stringify({ names: records.map((one) => one.name) })));`;
  const outfile = join(out, 'small.mjs');
  const entryPoints = [write('small-entry.mjs', program)];
  await build({
    entryPoints,
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  });
  expect(resultOf(await runFile(outfile))).toEqual({ names: ['job'] });
});

test('two copies in one process: one trace, one collector, errors and links understood', async () => {
  cpSync(join(root, 'dist/cjs'), join(out, 'copy'), { recursive: true });
  const both = `
import one from '${join(root, 'dist/cjs/index.js')}';
import other from '${join(out, 'copy/index.js')}';
const records = [];
let calls = 0;
one.setReporter({ name: 'r', report(batch) {
  if (++calls === 1) throw new other.ReportError('ERR_X', 'no', { retryable: false });
  for (const trace of batch.traces) records.push(...trace.spans);
} });
one.Span.root('refused').end();
await other.flush();
const root = one.Span.root('root');
await root.run(async () => {
  other.LocalSpan.start('other local').addProperty('p', 1).end();
  const child = other.Span.startWithLocalParent('other span');
  await child.run(async () => { await null; one.LocalSpan.start('one local').end(); });
  child.addLink(root).end();
  await other.traced('other traced', async () => one.Span.current().end)();
  const [, spans] = other.LocalCollector.run(() => one.LocalSpan.start('detached').end());
  root.pushChildSpans(spans);
});
root.end();
await other.flush();
const byId = new Map(records.map((span) => [span.spanId, span.name]));
const child = records.find(({ name }) => name === 'other span');
console.log(JSON.stringify({
  distinct: one.Span !== other.Span,
  same: one.defaultCollector() === other.defaultCollector(),
  edges: records.map((span) => (byId.get(span.parentSpanId) ?? '-') + ' > ' + span.name).sort(),
  ids: new Set(records.map(({ spanId }) => spanId)).size,
  link: byId.get(child.links[0]?.spanId),
  refused: other.stats().collector.reporters.r.droppedSpansRefused,
  inside: records.every((span) => span.startUnixNs >= records[0].startUnixNs && span.endUnixNs <= records[0].endUnixNs),
}));
`;
  expect(resultOf(await runFile(write('both.mjs', both)))).toEqual({
    distinct: true,
    same: true,
    edges: [
      '- > root',
      'other span > one local',
      'root > other local',
      'root > other span',
      'root > other traced',
      'root > detached',
    ].sort(),
    ids: 6,
    link: 'root',
    refused: 1,
    inside: true,
  });
});
