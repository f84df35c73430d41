// One traced program records the same tree wherever it runs: ESM, CommonJS, both bundled, a worker, every clock source,
// no native addon, either implementation of async context.
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Consumer } from './consumer.js';

const PROGRAM = `
async function main() {
  const records = [];
  setReporter({ name: 'test', report: (batch) => { for (const trace of batch.traces) records.push(...trace.spans); } });
  const root = Span.root('request', SpanContext.random());
  await root.run(async () => {
    const parse = LocalSpan.start('parse');
    LocalSpan.start('token').end();
    parse.end();
    await new Promise((resolve) => setTimeout(resolve, 1));
    const read = Span.startWithLocalParent('read');
    await read.run(async () => {
      await null;
      LocalSpan.start('decode').end();
    });
    read.end();
  });
  root.end();
  await flush();
  const print = (id, indent) => records
    .filter((record) => record.parentSpanId === id)
    .sort((a, b) => Number(a.startUnixNs - b.startUnixNs))
    .map((record) => indent + record.name + '\\n' + print(record.spanId, indent + '  '))
    .join('');
  process.stdout.write(print('', ''));
}
main();
`;
const TREE = 'request\n  parse\n    token\n  read\n    decode\n';

const NAMES = '{ LocalSpan, Span, SpanContext, flush, setReporter }';
const ESM = `import ${NAMES} from 'spanline';${PROGRAM}`;
const CJS = `const ${NAMES} = require('spanline');${PROGRAM}`;
const right = { code: 0, stdout: TREE, stderr: '' };

let consumer: Consumer;
beforeAll(() => {
  consumer = new Consumer();
  consumer.write('program.mjs', ESM);
  consumer.write('program.cjs', CJS);
});
afterAll(() => consumer?.dispose());

describe('the same tree', () => {
  test('as ESM', () => {
    expect(consumer.node(['program.mjs'])).toEqual(right);
  });

  test('as CommonJS', () => {
    expect(consumer.node(['program.cjs'])).toEqual(right);
    expect(consumer.node(['--no-experimental-require-module', 'program.cjs'])).toEqual(right);
  });

  test.each(['esm', 'cjs'] as const)('bundled by esbuild as %s', async (format) => {
    const outfile = join(consumer.dir, `bundle/out.${format === 'esm' ? 'mjs' : 'cjs'}`);
    const entryPoints = [join(consumer.dir, format === 'esm' ? 'program.mjs' : 'program.cjs')];
    const { warnings } = await build({
      entryPoints,
      outfile,
      format,
      bundle: true,
      platform: 'node',
      logLevel: 'silent',
    });
    expect(warnings.map(({ text }) => text)).toEqual([]);
    expect(consumer.node([outfile])).toEqual(right);
  });

  test('in a worker', () => {
    consumer.write(
      'worker.mjs',
      `import { Worker } from 'node:worker_threads'; new Worker(new URL('./program.mjs', import.meta.url));`,
    );
    expect(consumer.node(['worker.mjs'])).toEqual(right);
  });

  test.each(['tsc', 'tsc-percpu', 'monotonic', 'js'])('with SPANLINE_CLOCK=%s', (source) => {
    expect(consumer.node(['program.mjs'], { SPANLINE_CLOCK: source })).toMatchObject({ code: 0, stdout: TREE });
  });

  test('with the older async context', () => {
    if (Number(process.versions.node.split('.')[0]) < 24) return;
    expect(consumer.node(['--no-async-context-frame', 'program.mjs'])).toEqual(right);
  });

  describe('without any native addon', () => {
    const prebuilds = (): string => join(consumer.package, 'prebuilds');
    const isThere = (): boolean => existsSync(prebuilds()) || existsSync(`${prebuilds()}.away`);
    beforeAll(() => {
      if (isThere()) renameSync(prebuilds(), `${prebuilds()}.away`);
    });
    afterAll(() => {
      if (isThere()) renameSync(`${prebuilds()}.away`, prebuilds());
    });

    test('as ESM', () => {
      expect(consumer.node(['program.mjs'])).toEqual(right);
    });

    // It measures what each source costs: more than a minute on an emulated CPU.
    test.skipIf(process.env.SPANLINE_TEST_NODE !== undefined)('spanline clock says what serves instead', () => {
      const { code, stdout } = consumer.node([join(consumer.install('cli'), 'dist/cjs/main.js'), 'clock']);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^source +monotonic\npath +js /);
      const notes = [...stdout.matchAll(/^note +(.*)$/gm)].map(([, note]) => note);
      const missing = `no tsc.node for ${process.platform}-${process.arch}`;
      expect(notes).toEqual([missing, 'performance.now() is read instead']);
    });
  });

  test('with SPANLINE_ARCHIVE, and @spanline/archive not installed, it says what to install and goes on', () => {
    const alone = new Consumer();
    onTestFinished(() => alone.dispose());
    alone.write('program.mjs', ESM);
    const args = ['--import', 'spanline/register', 'program.mjs'];
    const { code, stdout, stderr } = alone.node(args, { SPANLINE_ARCHIVE: 'traces' });
    expect({ code, stdout }).toEqual({ code: 0, stdout: TREE });
    expect(stderr).toContain('SPANLINE_ARCHIVE needs the package @spanline/archive: npm install @spanline/archive');
  });

  test('switched off it records nothing and prints nothing', () => {
    expect(consumer.node(['program.mjs'], { SPANLINE_DISABLED: '1' })).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});
