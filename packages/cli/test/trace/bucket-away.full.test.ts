// While its store is away a command says what keeps it from uploading and where the spans wait; when the store is back, they get there.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeBucket } from '../../../../test/support/versitygw.js';
import { encodeOtlpJson } from '../../../archive/src/formats/encode.js';
import { FULL_SPAN } from '../../../archive/test/support/any-span.js';
import { bucketEnvironment } from '../support/bucket-environment.js';
import { type Outcome, scratch, spanline, spanlineProcess } from '../support/spanline.js';

describeBucket('a store that is away', (server) => {
  const dir = scratch();
  let places = 0;
  const newPlace = (): string => `s3://traces/away-${places++}`;
  const environment = (): Record<string, string> => bucketEnvironment(server(), dir);
  const run = (args: readonly string[]): Promise<Outcome> => spanline(args, { env: environment() });

  test('serve says what keeps it from uploading, and where the spans wait', async () => {
    const spool = join(dir, 'lonely-spool');
    const args = ['serve', '-a', newPlace(), '--spool', spool, '--port', '0', '--otlp-port', '0', '--json'];
    const outcome = await spanlineProcess(args, {
      env: { ...environment(), AWS_ENDPOINT_URL: 'http://127.0.0.1:1' },
      onOutput: async (kill, output) => {
        const { otlp } = JSON.parse(output) as { otlp: string };
        const body = encodeOtlpJson([FULL_SPAN]);
        await fetch(otlp, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
        kill('SIGTERM');
      },
    });
    expect(outcome.stderr).toContain(`spans wait in the spool ${spool} and are tried again`);
    expect(outcome.stderr).toContain('ECONNREFUSED');
    expect(readdirSync(spool).filter((name) => name.startsWith('seg-'))).toHaveLength(1);
  });

  test('an import that does not get there says what is left, and the same again brings it there', {
    timeout: 60_000,
  }, async () => {
    const place = newPlace();
    const spools = join(dir, 'spools-of-imports');
    const stdin = Buffer.from(encodeOtlpJson([{ ...FULL_SPAN, parentSpanId: '' }]));
    const variables = { ...environment(), SPANLINE_SPOOL: spools };
    const args = ['trace', 'import', '-a', place, '-'];
    const failed = await spanline(args, { env: { ...variables, AWS_ENDPOINT_URL: 'http://127.0.0.1:1' }, stdin });
    expect(failed).toMatchObject({ code: 3 });
    expect(failed.stderr).toMatch(
      /1 file with \d+ bytes of spans did not get into s3:.* and waits in .*process-0: run the command again/,
    );
    const again = await spanline(args, { env: variables, stdin });
    expect(again).toMatchObject({ code: 0 });
    expect(again.stderr).not.toContain('did not get into');
    expect((await run(['archive', 'stats', '-a', place, '--json'])).stdout).toContain('"segments": 2');
    const { stdout } = await run(['trace', 'ls', '-a', place, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ spanCount: 1 });
    expect(readdirSync(join(spools, 'process-0'))).toEqual([]);
  });
});
