// The view Live over the metrics of a running service: the numbers of its last minute are all requests and calls that there were, whatever is sampled.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildFirst, root, scratch } from '../../../test/support/built.js';
import { Archive } from '../../archive/src/index.js';
import { spanAt } from '../../archive/test/support/traces.js';
import type { LiveEvent } from '../src/api/answers.js';
import { accessibilityFaults } from './support/accessibility.js';
import { hasBrowser, SIZES, useBrowser } from './support/browser.js';
import { useServer } from './support/served.js';

/** Sampled at 1 %. Answers with 500 at /bad; each request asks a cache twice, and is a span of its own. */
const PROGRAM = `
  import { tracingChannel } from 'node:diagnostics_channel';
  import { createServer } from 'node:http';
  import { spanMetrics, Span } from 'spanline';
  spanMetrics({ job: { properties: ['plan'] } });
  const cache = tracingChannel('ioredis:command');
  const command = { command: 'get', args: ['key'], database: 0, serverAddress: 'cache', serverPort: 6379 };
  const server = createServer(async (request, response) => {
    for (let i = 0; i < 2; i++) await cache.tracePromise(async () => 'value', { ...command });
    if (request.url === '/jobs') for (let i = 0; i < 500; i++) Span.root('job', undefined, { properties: { plan: 'team' } }).end();
    response.writeHead(request.url === '/bad' ? 500 : 200).end();
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

buildFirst();
let service: ChildProcess;
let url: string;
let metrics: string;
beforeAll(async () => {
  service = spawn(process.execPath, ['--import', 'spanline/register', '--input-type=module', '-e', PROGRAM], {
    cwd: root,
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      SPANLINE_ARCHIVE: '',
      OTEL_SERVICE_NAME: 'shop',
      OTEL_TRACES_EXPORTER: 'none',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.01',
      OTEL_METRICS_EXPORTER: 'prometheus',
      OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
      OTEL_EXPORTER_PROMETHEUS_PORT: '0',
      OTEL_LOG_LEVEL: 'debug',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log = createInterface({ input: service.stderr as NodeJS.ReadableStream });
  let address: string | undefined;
  log.on('line', (line) => {
    address ??= /metrics are at (.*)/.exec(line)?.[1];
  });
  const [port] = await once(createInterface({ input: service.stdout as NodeJS.ReadableStream }), 'line');
  while (address === undefined) await once(log, 'line');
  url = `http://127.0.0.1:${port}`;
  metrics = address;
});
afterAll(async () => {
  const ended = once(service, 'exit');
  service.kill('SIGKILL');
  await ended;
});

const serve = useServer();

/** Events of a server, until one is as it should be. */
const until = async (page: string, isSo: (event: LiveEvent) => boolean): Promise<LiveEvent> => {
  const controller = new AbortController();
  const { body } = await fetch(`${page}/api/live`, { signal: controller.signal });
  let text = '';
  try {
    for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
      text += new TextDecoder().decode(piece);
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events.map((one) => JSON.parse(one.slice('data: '.length)) as LiveEvent))
        if (isSo(event)) return event;
    }
  } finally {
    controller.abort();
  }
  throw new Error('it ended before');
};

const ask = async (path: string, times: number): Promise<void> => {
  for (let i = 0; i < times; i++) await (await fetch(`${url}${path}`)).arrayBuffer();
};

test('all of the load and nothing else; a service that cannot be read is named, and keeps nobody from it', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const nobody = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/metrics`;
  const wrong = new URL('/nothing', metrics).href;
  const page = await serve({ metrics: [nobody, metrics, wrong] });
  // What was there before the page is looked at is not of its minute.
  await ask('/before', 10);
  const load = until(page, ({ measured }) => (measured?.seconds ?? 0) > 0).then(async () => {
    await Promise.all([ask('/', 90), ask('/bad', 30), ask('/jobs', 1)]);
  });
  const countOf = ({ measured }: LiveEvent, of: string): number | undefined =>
    measured?.rows.find(({ what }) => what === of)?.count;
  const isAll = (event: LiveEvent): boolean => countOf(event, 'asked') === 242 && countOf(event, 'answered') === 121;
  const { measured, archive } = await until(page, isAll);
  await load;
  expect(archive).toBeUndefined();
  // The one that says nothing is named too once it has been waited for.
  expect(measured?.failures.filter((failure) => failure.url !== nobody)).toEqual([
    { url: wrong, reason: 'it answered 404' },
  ]);
  const found = measured?.rows.map(
    ({ service: of, what, name, count, errors }) => `${of} ${what} ${name} ${count} ${errors}`,
  );
  const spans = measured?.rows.find(({ what }) => what === 'recorded');
  expect(found?.filter((row) => !row.includes('recorded'))).toEqual([
    'shop asked redis GET 242 0',
    'shop answered GET 121 30',
  ]);
  // A hundredth of them, and so labelled.
  expect(spans === undefined || (spans.name === 'job plan=team' && spans.count < 100)).toBe(true);
  silent.closeAllConnections();
  silent.close();
});

describe.skipIf(!hasBrowser)('on the page', () => {
  const { open, keepPicture } = useBrowser();

  test('figures and rows, in both themes and widths', async () => {
    const page = await open(await serve({ metrics: [metrics] }));
    await page.getByText(/These are the last \d+ seconds/).waitFor();
    await ask('/', 40);
    await ask('/bad', 10);
    await page.getByRole('row', { name: /^answered GET shop \d+\.\d 50 10 / }).waitFor();
    await page.getByRole('row', { name: /^asked redis GET shop \d+\.\d 100 0 / }).waitFor();
    expect((await page.locator('dl dd').allInnerTexts()).slice(1)).toEqual(['50', '20 %']);
    await page.keyboard.press('p');
    await page.getByRole('button', { name: 'Go on' }).waitFor();
    for (const [size, viewport] of Object.entries(SIZES)) {
      await page.setViewportSize(viewport);
      for (const theme of ['light', 'dark']) {
        expect(await accessibilityFaults(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
        await keepPicture(page, `live-measured-${theme}-${size}`);
        await page.keyboard.press('t');
      }
    }
  });

  test('beside an archive, which has what is sampled', async () => {
    const directory = join(scratch(), 'traces');
    const archive = await Archive.open(directory, { readOnly: true, mayBeMissing: true });
    const page = await open(await serve({ archive, metrics: [metrics] }));
    await page.getByRole('heading', { name: 'In the archive, as far as it is sampled' }).waitFor();
    await page.getByText(`${directory} is not there yet`).waitFor();
    await page.getByText(/These are the last \d+ seconds/).waitFor();
    await ask('/', 7);
    await page.getByRole('row', { name: /^answered GET shop \d+\.\d 7 0 / }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const stock = await Archive.open(directory);
    const startUnixNs = BigInt(Date.now()) * 1_000_000n;
    stock.append([{ ...spanAt(1, 0, 'GET /sampled', 0, 0), startUnixNs, endUnixNs: startUnixNs + 20_000_000n }]);
    await page.getByRole('row', { name: /^GET \/sampled / }).waitFor();
    await stock.close();
    expect(await page.locator('dl').count()).toBe(2);
    expect(await accessibilityFaults(page)).toEqual([]);
    await keepPicture(page, 'live-both');
    await page.close();
    await archive.close();
  });

  test('a service that nobody can reach', async () => {
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    gone.close();
    await once(gone, 'close');
    const page = await open(await serve({ metrics: [`http://127.0.0.1:${port}/metrics`] }));
    await page.getByText(/cannot be read: ECONNREFUSED/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});
