// The reporter never keeps a process alive, and an awaited flush keeps it until the spans are out.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deadUrl, startServer } from '../support/http-server.js';

const run = promisify(execFile);
let folder = '';
let program = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spanline-'));
  program = join(folder, 'program.mjs');
  const from = (path: string): string => JSON.stringify(fileURLToPath(new URL(path, import.meta.url)));
  await build({
    stdin: {
      contents: `
        import { OtlpReporter } from ${from('../../../src/exporters/otlp.ts')};
        import { batchOf, numberedRecords } from ${from('../support/records.ts')};
        const [endpoint, then] = process.argv.slice(2);
        const reporter = new OtlpReporter({ endpoint });
        let outcome = 'under way';
        reporter.report(batchOf([numberedRecords(3)])).then(() => (outcome = 'sent'), (error) => (outcome = error.code));
        process.on('exit', () => console.log(outcome));
        if (then === 'flush') reporter.flush();
      `,
      resolveDir: folder,
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    outfile: program,
  });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Ends only when the child ends by itself. */
const outcomeOf = async (endpoint: string, then: string): Promise<string> =>
  (await run(process.execPath, [program, endpoint, then])).stdout.trim();

test('a request that is never answered does not hold the process', async () => {
  const server = await startServer(() => {});
  expect(await outcomeOf(server.url, '')).toBe('under way');
  await server.close();
});

test('an awaited flush does, and a kept connection does not afterwards', async () => {
  const server = await startServer((response) => setTimeout(() => response.end(), 100));
  expect(await outcomeOf(server.url, 'flush')).toBe('sent');
  expect(server.requests).toHaveLength(1);
  await server.close();
});

test('nothing listens: it ends as well', async () => {
  expect(await outcomeOf(await deadUrl(), 'flush')).toBe('ERR_SPANLINE_CONNECT');
});
