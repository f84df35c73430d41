// The reporter never keeps a process alive, whatever the protocol and whether or not anything listens.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCollector } from './support/collector.js';
import { decodeCompactPacket } from './support/decode.js';
import { closedPort, startAgent } from './support/udp-agent.js';

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
        import { JaegerReporter } from ${from('../../../src/exporters/jaeger.ts')};
        import { batchOf, numberedRecords } from ${from('../support/records.ts')};
        const [options, then] = process.argv.slice(2);
        const reporter = new JaegerReporter(JSON.parse(options));
        const report = reporter.report(batchOf([numberedRecords(3)])).then(() => 'sent', (error) => error.code);
        const held = then === 'flush' ? reporter.flush() : report;
        await Promise.race([held.then(() => report), new Promise((resolve) => process.once('beforeExit', resolve))])
          .then((outcome) => console.log(outcome));
        if (then === 'exit') {
          process.on('exit', () => reporter.reportSync(batchOf([numberedRecords(5)])));
          process.exit();
        }
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
const outcomeOf = async (options: object, then = ''): Promise<string> =>
  (await run(process.execPath, [program, JSON.stringify(options), then])).stdout.trim();

const udp = { protocol: 'thrift-compact-udp', host: '127.0.0.1' };

test('UDP: ends by itself after a delivery and after a refusal', async () => {
  const agent = await startAgent();
  expect(await outcomeOf({ ...udp, port: agent.port })).toBe('sent');
  await agent.until((packets) => packets.length === 1);
  await agent.close();
  expect(await outcomeOf({ ...udp, port: await closedPort() })).toBe('ERR_SPANLINE_UDP_REFUSED');
});

test('UDP: what is reported in the exit handler arrives', async () => {
  const agent = await startAgent();
  await outcomeOf({ ...udp, port: agent.port }, 'exit');
  await agent.until((packets) => packets.length === 2);
  expect(agent.packets.map((packet) => decodeCompactPacket(packet).spans.length)).toEqual([3, 5]);
  await agent.close();
});

test('HTTP: a flush holds the process until the answer, an idle connection does not', async () => {
  const collector = await startCollector();
  expect(await outcomeOf({ protocol: 'thrift-http', endpoint: collector.endpoint }, 'flush')).toBe('sent');
  expect(collector.received).toHaveLength(1);
  await collector.close();
});
