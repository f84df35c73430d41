// The recorder is loaded when it is first asked for, whichever way the program was put together, and is then the one of the whole process.
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Consumer, type Outcome } from './consumer.js';

let consumer: Consumer;
beforeAll(() => {
  consumer = new Consumer();
});
afterAll(() => consumer?.dispose());

const CONFIGURE = 'configure({ flightRecorder: {} });';
const RECORD = `Span.root('GET /').end();`;
const SAVE = `
  const taken = await saveSnapshot('last.flight', 'test');
  const written = await writeSnapshot(snapshot(), 'again.flight', { format: 'flight' });
  const read = await readSnapshotFile('again.flight');
  console.log(taken.spanCount, written.spanCount, read.spanCount, stats().flightRecorder.spans);`;
const NAMES = '{ readSnapshotFile, saveSnapshot, snapshot, writeSnapshot }';
const PLAIN = `import { configure, Span, stats } from 'spanline'; ${CONFIGURE} const ${NAMES} = await import('spanline/flight-recorder');
  ${RECORD} ${SAVE}`;
const kept: Outcome = { code: 0, stdout: '1 1 1 1\n', stderr: '' };

const run = (file: string, text: string, flags: readonly string[] = []): Outcome =>
  consumer.node([...flags, consumer.write(file, text)]);

/** The files of this package that a program has loaded when `text` has run. */
const loadedBy = (text: string): string[] => {
  const { code, stdout, stderr } = run(
    'loaded.mjs',
    `import { Session } from 'node:inspector';
     const session = new Session();
     const urls = [];
     session.connect();
     session.on('Debugger.scriptParsed', ({ params }) => urls.push(params.url));
     session.post('Debugger.enable');
     ${text}
     session.disconnect();
     console.log(JSON.stringify(urls.filter((url) => url.includes('/spanline/dist/'))));`,
  );
  expect([code, stderr]).toEqual([0, '']);
  return (JSON.parse(stdout) as string[]).map((url) => url.slice(url.indexOf('/dist/') + '/dist/'.length));
};

describe('what is loaded', () => {
  test('the core without the recorder, until it is asked for', () => {
    const before = loadedBy(`await import('spanline');`);
    expect(before.filter((file) => /recorder|timeline/.test(file))).toEqual([]);
    const after = loadedBy(`const { configure } = await import('spanline'); ${CONFIGURE}`);
    expect(after).toContain('cjs/flight-recorder/recorder-feature.js');
    const off = loadedBy(`const { configure } = await import('spanline'); configure({ flightRecorder: false });`);
    expect(off).toEqual(before);
  });
});

describe('the recorder that configure starts is the one that snapshots are taken of', () => {
  test('when it is switched on before the program loads the entry point', () => {
    consumer.write('setup.mjs', `import { configure } from 'spanline'; ${CONFIGURE}`);
    const text = `import './setup.mjs'; import { Span, stats } from 'spanline'; import ${NAMES} from 'spanline/flight-recorder';`;
    expect(run('later.mjs', `${text} ${RECORD} ${SAVE}`)).toEqual(kept);
  });

  test('while the entry point is being loaded', () => {
    const text = `import { configure, Span, stats } from 'spanline'; const entry = import('spanline/flight-recorder'); ${CONFIGURE}`;
    expect(run('meanwhile.mjs', `${text} const ${NAMES} = await entry; ${RECORD} ${SAVE}`)).toEqual(kept);
  });

  test.each([
    ['that take ES modules by require', []],
    ['that do not', ['--no-experimental-require-module']],
  ])('in programs %s', (_, flags) => {
    expect(run('plain.mjs', PLAIN, flags)).toEqual(kept);
    const cjs = `const { configure, Span, stats } = require('spanline'); ${CONFIGURE} const ${NAMES} = require('spanline/flight-recorder');`;
    expect(run('plain.cjs', `${cjs} (async () => { ${RECORD} ${SAVE} })();`, flags)).toEqual(kept);
  });

  test('with hooks that load modules', () => {
    const hooks = `export const resolve = (s, c, next) => next(s, c); export const load = (u, c, next) => next(u, c);`;
    const text = `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)});`;
    // Node 26 warns of `module.register`, which is the program's own call here; anything else on standard error is a fault.
    const flags = ['--disable-warning=DEP0205'];
    consumer.write('hooked-program.mjs', PLAIN);
    expect(run('hooked.mjs', `${text} await import('./hooked-program.mjs');`, flags)).toEqual(kept);
  });
});

test('a wrong option is named as ever', () => {
  const text = `import { configure } from 'spanline'; try { configure({ flightRecorder: { maxAge: 1 } }); } catch (e) { console.log(e.name, e.code, e.message); }`;
  expect(run('wrong.mjs', text).stdout).toMatch(
    /^OptionError ERR_SPANLINE_OPTION Unknown option "flightRecorder\.maxAge"\. Known: minAgeMs, .*\.\n$/,
  );
});

describe.each(['esm', 'cjs'] as const)('in a bundle as %s', (format) => {
  const bundled = async (text: string): Promise<Outcome> => {
    const outfile = join(consumer.dir, `bundle/out.${format === 'esm' ? 'mjs' : 'cjs'}`);
    const entry = consumer.write(
      'entry.mjs',
      `${text} import { configure, Span, stats } from 'spanline';
       try { ${CONFIGURE} ${RECORD} console.log(typeof stats().flightRecorder.spans); } catch (e) { console.log(e.code, e.message); }`,
    );
    await build({ entryPoints: [entry], outfile, format, bundle: true, platform: 'node', logLevel: 'silent' });
    return consumer.node([outfile]);
  };

  test('the entry point is bundled where it is imported', async () => {
    expect(await bundled(`import 'spanline/flight-recorder';`)).toEqual({ code: 0, stdout: 'number\n', stderr: '' });
  });

  test('an error says so where it is not', async () => {
    expect((await bundled('')).stdout).toMatch(
      /^ERR_SPANLINE_OPTION Option "flightRecorder": .* import 'spanline\/flight-recorder' before configure/,
    );
  });
});
