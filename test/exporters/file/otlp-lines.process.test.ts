// A file of OTLP lines is whole after every report, whatever failed; it is turned over at its bound; nothing is in it twice.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ReportError } from '../../../src/collector/reporter.js';
import { FileReporter } from '../../../src/exporters/file.js';
import { decodeJson } from '../support/otlp-decode.js';
import { modelOf } from '../support/otlp-model.js';
import { batchOf, fullRecord, numberedRecords, RESOURCE, randomTraces, record } from '../support/records.js';

let folder = '';
let path = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spanline-'));
  path = join(folder, 'spans.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const linesOf = (file = path) => {
  const text = readFileSync(file, 'utf8');
  expect(text.endsWith('\n')).toBe(true);
  return text.slice(0, -1).split('\n');
};
const spansOf = (file = path) => linesOf(file).flatMap((line) => decodeJson(line).spans);

const failure = async (sent: Promise<unknown>): Promise<ReportError> => {
  const error = await sent.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ReportError);
  return error as ReportError;
};

test('each report adds a line with its resource; the same when it is written at exit', async () => {
  const reporter = new FileReporter({ path: join(folder, 'made', 'for', 'it', 'spans.jsonl') });
  await reporter.report(batchOf([[fullRecord()], ...randomTraces(1, 20)]));
  reporter.reportSync(batchOf([numberedRecords(2)], { serviceName: 'bank', attributes: {} }));
  const requests = linesOf(reporter.path).map(decodeJson);
  expect(requests.map(({ resource }) => resource[0][1])).toEqual([
    ['string', 'shop'],
    ['string', 'bank'],
  ]);
  expect(requests[0].spans).toEqual([fullRecord(), ...randomTraces(1, 20).flat()].map(modelOf));
  expect(requests[1].spans).toEqual(numberedRecords(2).map(modelOf));
  expect(reporter.stats()).toMatchObject({
    linesWritten: 2,
    spansWritten: 23,
    bytesWritten: statSync(reporter.path).size,
  });
});

test('a large batch takes several lines, none beyond 4 MiB', async () => {
  const reporter = new FileReporter({ path });
  const spans = numberedRecords(9000, ['text', 'x'.repeat(1000)]);
  await reporter.report(batchOf([spans]));
  expect(linesOf().length).toBeGreaterThan(2);
  for (const line of linesOf()) expect(Buffer.byteLength(line)).toBeLessThan(4 << 20);
  expect(spansOf().map(({ name }) => name)).toEqual(spans.map(({ name }) => name));
});

test('a span that fits in no line is left out and counted', async () => {
  const reporter = new FileReporter({ path });
  await reporter.report(
    batchOf([[record({ name: 'a' }), record({ name: 'x'.repeat(5 << 20) }), record({ name: 'b' })]]),
  );
  expect(spansOf().map(({ name }) => name)).toEqual(['a', 'b']);
  expect(reporter.stats()).toMatchObject({ spansTooLarge: 1, spansWritten: 2 });
});

test('turned over at maxBytes, the oldest removed and counted', async () => {
  const reporter = new FileReporter({ path, maxBytes: 1024, keepFiles: 2 });
  for (let i = 0; i < 5; i++) await reporter.report(batchOf([[record({ name: `span ${i}`.padEnd(600) })]]));
  expect(readdirSync(folder).sort()).toEqual(['spans.jsonl', 'spans.jsonl.1', 'spans.jsonl.2']);
  const names = [path, `${path}.1`, `${path}.2`].map((file) => spansOf(file).map(({ name }) => name.trim()));
  expect(names).toEqual([['span 4'], ['span 3'], ['span 2']]);
  expect(reporter.stats()).toMatchObject({ filesRemoved: 2, linesWritten: 5 });
});

test('the next file is as closed to others as the full one', async () => {
  const reporter = new FileReporter({ path, maxBytes: 1024, keepFiles: 1 });
  await reporter.report(batchOf([[record({ name: 'first'.padEnd(600) })]]));
  chmodSync(path, 0o600);
  await reporter.report(batchOf([[record({ name: 'second'.padEnd(600) })]]));
  expect(readdirSync(folder).sort()).toEqual(['spans.jsonl', 'spans.jsonl.1']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a file taken away is begun again', async () => {
  const reporter = new FileReporter({ path });
  await reporter.report(batchOf([numberedRecords(1)]));
  rmSync(path);
  await reporter.report(batchOf([numberedRecords(2)]));
  expect(spansOf()).toHaveLength(2);
});

test('half a line that a crash left is ended, and what follows is whole', async () => {
  appendFileSync(path, '{"resourceSpans":[{"reso');
  await new FileReporter({ path }).report(batchOf([numberedRecords(1)]));
  const [torn, whole] = linesOf();
  expect(torn).toBe('{"resourceSpans":[{"reso');
  expect(decodeJson(whole).spans).toHaveLength(1);
});

describe('what fails', () => {
  test('a directory in the place of the file: for good', async () => {
    mkdirSync(path);
    const error = await failure(new FileReporter({ path }).report(batchOf([numberedRecords(1)])));
    expect(error).toMatchObject({ code: 'ERR_SPANLINE_FILE', retryable: false });
    expect(error.message).toContain(path);
  });

  test('a file where a directory should be', async () => {
    appendFileSync(path, '');
    const error = await failure(
      new FileReporter({ path: join(path, 'in.jsonl') }).report(batchOf([numberedRecords(1)])),
    );
    expect(error).toMatchObject({ code: 'ERR_SPANLINE_FILE', retryable: false });
  });

  test('a device is refused', async () => {
    const error = await failure(new FileReporter({ path: '/dev/null' }).report(batchOf([numberedRecords(1)])));
    expect(error).toMatchObject({ code: 'ERR_SPANLINE_FILE', retryable: false });
    expect(error.message).toContain('/dev/null is not a regular file');
  });

  test.skipIf(process.getuid?.() === 0)('no right to write: may be given later', async () => {
    chmodSync(folder, 0o500);
    const error = await failure(new FileReporter({ path }).report(batchOf([numberedRecords(1)])));
    expect(error).toMatchObject({ code: 'ERR_SPANLINE_FILE', retryable: true });
    chmodSync(folder, 0o700);
  });

  // A process may be given a bound for the size of files; beyond it a write is cut short and the next one fails, which is
  // what a full disk does.
  const canLimit = spawnSync('prlimit', ['--version']).status === 0;
  test.runIf(canLimit)(
    'a disk that is full in the middle of a line: the line is taken back, and the retry writes each span once',
    async () => {
      const program = join(folder, 'program.mjs');
      const from = (file: string): string => JSON.stringify(fileURLToPath(new URL(file, import.meta.url)));
      await build({
        stdin: {
          contents: `
          import { statSync } from 'node:fs';
          import { execFileSync, spawnSync } from 'node:child_process';
          import { FileReporter } from ${from('../../../src/exporters/file.ts')};
          import { batchOf, numberedRecords } from ${from('../support/records.ts')};
          process.on('SIGXFSZ', () => {});
          const reporter = new FileReporter({ path: process.argv[2] });
          const batch = batchOf([numberedRecords(9000, ['text', 'x'.repeat(100)])]);
          const limit = (size) => execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=' + size + ':unlimited']);
          limit(3000000);
          const error = await reporter.report(batch).catch((reason) => reason);
          const between = statSync(process.argv[2]).size;
          limit('unlimited');
          batch.signal = new AbortController().signal;
          await reporter.report(batch);
          console.log(JSON.stringify({ code: error.code, retryable: error.retryable, message: error.message, between }));
        `,
          resolveDir: folder,
        },
        bundle: true,
        platform: 'node',
        format: 'esm',
        target: 'node20.19',
        outfile: program,
      });
      const outcome = JSON.parse(execFileSync(process.execPath, [program, path], { encoding: 'utf8' }));
      expect(outcome).toMatchObject({ code: 'ERR_SPANLINE_FILE', retryable: true });
      expect(outcome.message).toContain(path);
      const lines = linesOf();
      // What was there between the two is whole lines.
      const sizes = lines.map((line) => Buffer.byteLength(line) + 1);
      expect([sizes[0], sizes[0] + sizes[1]]).toContain(outcome.between);
      expect(spansOf().map(({ name }) => name)).toEqual(numberedRecords(9000).map(({ name }) => name));
    },
  );
});

test('an aborted report is not written', async () => {
  const reporter = new FileReporter({ path });
  const reason = new ReportError('ERR_SPANLINE_SHUTDOWN', 'over');
  expect(await failure(reporter.report(batchOf([numberedRecords(1)], RESOURCE, AbortSignal.abort(reason))))).toBe(
    reason,
  );
  expect(readdirSync(folder)).toEqual([]);
});

test('wrong options name themselves', () => {
  const make = (options: object) => () => new FileReporter(options as { path: string });
  expect(make({})).toThrow(/"path" must name a file/);
  expect(make({ path, size: 1 })).toThrow(/"size".*Known: path/);
  expect(make({ path, format: 'csv' })).toThrow(/"format" must be "otlp-jsonl" or "jaeger-json"/);
  expect(make({ path, maxBytes: 1 })).toThrow(/"maxBytes" must be a whole number from 1024/);
  expect(make({ path, maxTraces: 1 })).toThrow(/"maxTraces" is for the format "jaeger-json"/);
  expect(make({ path, format: 'jaeger-json', keepFiles: 1 })).toThrow(/"keepFiles" is for the format "otlp-jsonl"/);
});
