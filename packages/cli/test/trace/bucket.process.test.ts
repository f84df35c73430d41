// The commands on an archive in a bucket of a real server: they write by way of a spool, read from anywhere, say what that took, and refuse what means
// nothing there.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeBucket } from '../../../../test/support/versitygw.js';
import { encodeOtlpJson } from '../../../archive/src/formats/encode.js';
import { FULL_SPAN } from '../../../archive/test/support/any-span.js';
import { bucketEnvironment } from '../support/bucket-environment.js';
import { type Outcome, scratch, spanline, spanlineProcess } from '../support/spanline.js';

describeBucket('commands on a bucket', (server) => {
  const dir = scratch();
  let places = 0;
  const newPlace = (): string => `s3://traces/commands-${places++}`;

  const environment = (): Record<string, string> => bucketEnvironment(server(), dir);

  const run = (args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> =>
    spanline(args, { env: { ...environment(), ...env } });

  const imported = async (): Promise<string> => {
    const place = newPlace();
    const stdin = encodeOtlpJson([{ ...FULL_SPAN, parentSpanId: '' }]);
    const outcome = await spanline(['trace', 'import', '-a', place, '-'], {
      env: environment(),
      stdin: Buffer.from(stdin),
    });
    expect(outcome).toMatchObject({ code: 0 });
    return place;
  };

  test('what is imported is listed, found, shown and exported, and the spool is empty then', async () => {
    const place = await imported();
    const id = FULL_SPAN.traceId;
    for (const args of [
      ['trace', 'ls'],
      ['trace', 'search', '--service', 'shop'],
      ['trace', 'show', id],
      ['trace', 'show', id.slice(0, 6), '--from', '2020-01-01'],
      ['trace', 'export', id],
    ]) {
      const { code, stdout, stderr } = await run([...args, '--explain'], { SPANLINE_ARCHIVE: place });
      expect({ args, code }).toEqual({ args, code: 0 });
      expect(stdout).toContain(id);
      expect(stderr).toMatch(/\d+ ms, \d+ requests, \d+ bytes read from s3:\/\/traces\/commands-/);
    }
    expect(readdirSync(join(dir, 'spools', 'process-0'))).toEqual([]);
  });

  test('maintained once: uploads are taken in and merged, and nothing is lost', async () => {
    const place = newPlace();
    const ids = Array.from({ length: 4 }, (_, i) => `${i + 1}`.repeat(32));
    for (const traceId of ids) {
      const stdin = Buffer.from(encodeOtlpJson([{ ...FULL_SPAN, traceId, links: [], parentSpanId: '' }]));
      expect(await spanline(['trace', 'import', '-a', place, '-'], { env: environment(), stdin })).toMatchObject({
        code: 0,
      });
    }
    const { code, stdout } = await run(['archive', 'maintain', place, '--once', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ archive: place, folded: 4, merged: 4, written: 1, failures: 0 });
    const listed = await run(['trace', 'ls', '-a', place]);
    for (const id of ids) expect(listed.stdout).toContain(id);
    const stats = await run(['archive', 'stats', '-a', place, '--json']);
    expect(JSON.parse(stats.stdout)).toMatchObject({ segments: 1, spans: 4, bucket: { freshUploads: 0 } });
  });

  test('serve takes spans and answers; two of them need two spools', async () => {
    const place = newPlace();
    const spool = join(dir, 'spool');
    const args = ['serve', '-a', place, '--spool', spool, '--port', '0', '--otlp-port', '0', '--json'];
    let second: Outcome | undefined;
    let answer = '';
    const outcome = await spanlineProcess(args, {
      env: environment(),
      onOutput: async (kill, output) => {
        const { otlp, query } = JSON.parse(output) as { otlp: string; query: string };
        const body = encodeOtlpJson([FULL_SPAN]);
        await fetch(otlp, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
        answer = await (await fetch(`${query}/api/v3/services`)).text();
        second = await spanlineProcess(args, { env: environment() });
        kill('SIGTERM');
      },
    });
    expect(outcome).toMatchObject({ code: 0 });
    expect(answer).toContain('shop');
    expect(second).toMatchObject({ code: 3 });
    expect(second?.stderr).toContain(`the spool ${spool} is in use by process`);
    expect((await run(['trace', 'ls', '-a', place])).stdout).toContain(FULL_SPAN.traceId);
  });

  test('a program is run with its traces in a bucket', async () => {
    const place = newPlace();
    const program = "const { Span } = require('spanline'); Span.root('GET /').end()";
    const outcome = await spanlineProcess(['run', '-a', place, '-s', 'shop', '--', process.execPath, '-e', program], {
      env: environment(),
    });
    expect(outcome).toMatchObject({ code: 0 });
    expect(outcome.stderr).toContain(`traces go to ${place}`);
    expect((await run(['trace', 'ls', '-a', place])).stdout).toContain('GET /');
  });

  test('a program whose traces do not get into the bucket says so, once, and where they are', async () => {
    const program = "const { Span } = require('spanline'); Span.root('GET /').end()";
    const home = join(dir, 'lonely-spools');
    const outcome = await spanlineProcess(
      ['run', '-a', newPlace(), '--spool', home, '--', process.execPath, '-e', program],
      { env: { ...environment(), AWS_ENDPOINT_URL: 'http://127.0.0.1:1' } },
    );
    expect(outcome).toMatchObject({ code: 0 });
    const said = outcome.stderr.split('\n').filter((line) => line.includes('spans wait in the spool'));
    expect(said).toEqual([expect.stringContaining(join(home, 'process-0'))]);
    expect(said[0]).toContain('ECONNREFUSED');
  });

  test.each([
    ['the beginning of an id without a time', ['trace', 'show', '4bf9'], 2, '--from'],
    ['maintaining a directory', ['archive', 'maintain', './traces'], 2, 'write s3://bucket/prefix'],
    ['maintaining no bucket', ['archive', 'maintain', 's3://nowhere/traces', '--once'], 3, 'nowhere'],
    ['serving with --keep-hours alone', ['serve', '--keep-hours', '1'], 2, 'need --maintain'],
    ['serving --read-only with --maintain', ['serve', '--read-only', '--maintain'], 2, '--read-only'],
  ])('refused: %s', async (_, args, code, message) => {
    const outcome = await run(args, { SPANLINE_ARCHIVE: newPlace() });
    expect(outcome).toMatchObject({ code });
    expect(outcome.stderr).toContain(message);
  });

  test.each([
    ['a bucket that is not there', () => ({ SPANLINE_ARCHIVE: 's3://nowhere/traces' }), 'nowhere'],
    [
      'credentials without a right',
      () => {
        const { accessKeyId, secretAccessKey } = server().stranger;
        return { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
      },
      's3:GetObject',
    ],
    ['an address that is none', () => ({ SPANLINE_ARCHIVE: 's3://' }), 's3://bucket/prefix', 2],
    ['an address with one slash', () => ({ SPANLINE_ARCHIVE: 's3:/traces/x' }), 's3://bucket/prefix', 2],
    ['an address in capitals', () => ({ SPANLINE_ARCHIVE: 'S3://traces/x' }), 's3://bucket/prefix', 2],
    [
      'no credentials',
      () => ({
        ...{ AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', AWS_EC2_METADATA_DISABLED: 'true', HOME: dir },
        ...{ AWS_SHARED_CREDENTIALS_FILE: join(dir, 'none'), AWS_CONFIG_FILE: join(dir, 'none') },
      }),
      'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
      2,
    ],
  ])('%s: one line with the remedy', async (_, variables, message, expected = 3) => {
    const { code, stderr } = await run(['trace', 'ls'], { SPANLINE_ARCHIVE: newPlace(), ...variables() });
    expect(code).toBe(expected);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain(server().secretAccessKey);
  });

  test('options of a bucket mean nothing for a directory', async () => {
    mkdirSync(join(dir, 'local'));
    for (const option of [['--spool', 'x'], ['--maintain']])
      expect(await run(['serve', '-a', join(dir, 'local'), ...option])).toMatchObject({ code: 2 });
  });
});
