// `spanline perf query --explain` shows every node of the executed plan with its figures, and the trace it shows is the trace it sends.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { perfStore } from './support/perf-store.js';
import { type Outcome, spanline } from './support/spanline.js';

const { store } = perfStore();
const explain = (query: string, ...args: string[]): Promise<Outcome> =>
  spanline(['perf', 'query', '--store', store, query, '--explain', ...args]);

interface Node {
  readonly name: string;
  readonly durationMs: number;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly children: readonly Node[];
}

const flat = (nodes: readonly Node[]): Node[] => nodes.flatMap((node) => [node, ...flat(node.children)]);
const treeOf = (nodes: readonly Node[], depth = 0): string[] =>
  nodes.flatMap(({ name, children }) => ['  '.repeat(depth) + name, ...treeOf(children, depth + 1)]);

test('as a table, without colours: a line for each span, its figures in columns, the rest behind its name', async () => {
  const args = ['perf', 'query', '--store', store, 'test=draw&test=fill', '--explain'];
  const { code, stdout, stderr } = await spanline(args, { env: { FORCE_COLOR: '1' } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).not.toContain('\x1b');
  const [head, ...lines] = stdout.trimEnd().split('\n') as [string, ...string[]];
  expect(head.trim().split(/ +/)).toEqual([
    'node',
    'ms',
    'cpu.ms',
    '±ms',
    'wait.ms',
    'rows',
    'bytes',
    'ids.in',
    'ids.out',
    'batches',
  ]);
  const last = lines.pop();
  expect(last).toMatch(/^2 traces; trace [0-9a-f]{32}$/);
  const node = (line: string): string => line.replace(/ {2,}[-±\d. ]+$/, '').replace(/ reads=\d+$/, '');
  expect(lines.map(node)).toEqual([
    'perf.query tile=3 query=test=draw&test=fill engine=lmdb traces=2',
    '  query.plan kind=select',
    '    table.read-row',
    '  query tile=3',
    '    query.union key=test values=2',
    '      query.leaf key=test value=draw',
    '        table.read-keys selection=prefix "j2147483644:1:0:"',
    '      query.leaf key=test value=fill',
    '        table.read-keys selection=prefix "j2147483644:1:1:"',
    '  perf.read-traces ids=2 traces=2',
    '    table.read selection=2 keys',
  ]);
  // Numbers stand under their heads: those of the leaf are waiting, ids in, ids out and batches.
  const columnsOf = (line: string): string[] =>
    ['wait.ms', 'rows', 'bytes', 'ids.in', 'ids.out', 'batches'].map((name) => {
      const end = head.indexOf(name) + name.length;
      return line.slice(end - name.length - 1, end).trim();
    });
  const leaf = lines.find((line) => line.includes('value=draw')) as string;
  expect(columnsOf(leaf)).toEqual([expect.stringMatching(/^[\d.]+$/), '', '', '1', '1', '1']);
  const read = lines.find((line) => line.includes('table.read ')) as string;
  expect(columnsOf(read)).toEqual([
    expect.stringMatching(/^[\d.]+$/),
    '2',
    expect.stringMatching(/^\d+$/),
    '',
    '',
    '1',
  ]);
});

test('as JSON: the same tree for a program', async () => {
  const { code, stdout } = await explain('unit=ms&test=~draw', '--json');
  expect(code).toBe(0);
  const { traceId, plan } = JSON.parse(stdout) as { traceId: string; plan: Node[] };
  expect(traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(plan).toHaveLength(1);
  const [root] = plan as [Node];
  expect(root.properties).toEqual({ tile: 3, query: 'unit=ms&test=~draw', engine: 'lmdb', traces: 1 });
  expect(treeOf(plan).slice(0, 5)).toEqual([
    'perf.query',
    '  query.plan',
    '    table.read-row',
    '  query',
    '    query.intersection',
  ]);
  const nodes = flat(plan);
  for (const { durationMs } of nodes) expect(durationMs).toBeGreaterThanOrEqual(0);
  for (const { name, properties } of nodes) {
    if (name.startsWith('query.') && name !== 'query.plan') {
      expect(properties).toMatchObject({
        'ids.in': expect.any(Number),
        'ids.out': expect.any(Number),
        'wait.ms': expect.any(Number),
      });
    }
    if (name === 'table.read' || name === 'table.read-keys') {
      expect(properties).toMatchObject({
        rows: expect.any(Number),
        bytes: expect.any(Number),
        'wait.ms': expect.any(Number),
      });
    }
  }
  expect(nodes.find(({ name }) => name === 'query.intersection')?.properties).toMatchObject({
    conditions: 2,
    'ids.out': 1,
  });
});

test('says why a query can select nothing', async () => {
  const { code, stdout } = await explain('test=nosuch');
  expect(code).toBe(0);
  expect(stdout).toContain('query.plan kind=empty reason=no value of "test" in this tile is one of "nosuch"');
  expect(stdout).toMatch(/\n0 traces; trace [0-9a-f]{32}\n$/);
});

test('of a query that is none, is wrong usage', async () => {
  expect(await explain('test=~(')).toMatchObject({ code: 2, stdout: '' });
});

test('stops where --limit says', async () => {
  expect((await explain('', '--limit', '1')).stdout).toMatch(/\n[1-4] traces; trace/);
});

test('sends the very same trace to an OTLP server', async () => {
  const bodies: unknown[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => {
      bodies.push({ path: request.url, body: JSON.parse(text) as unknown });
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const args = ['perf', 'query', '--store', store, 'test=draw', '--explain', '--json', '--otlp', url];
  const { code, stdout, stderr } = await spanline(args, { env: { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { traceId, plan } = JSON.parse(stdout) as { traceId: string; plan: Node[] };
  expect(bodies).toHaveLength(1);
  const [{ path, body }] = bodies as [{ path: string; body: unknown }];
  expect(path).toBe('/v1/traces');
  interface OtlpSpan {
    readonly traceId: string;
    readonly name: string;
  }
  const { resourceSpans } = body as { resourceSpans: { resource: unknown; scopeSpans: { spans: OtlpSpan[] }[] }[] };
  const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
  expect(spans.map(({ name }) => name).sort()).toEqual(
    flat(plan)
      .map(({ name }) => name)
      .sort(),
  );
  expect(JSON.stringify(resourceSpans[0]?.resource)).toContain('spanline-perf');
});

test('ASCII where the locale knows no other', async () => {
  const args = ['perf', 'query', '--store', store, 'test=draw', '--explain'];
  const { stdout } = await spanline(args, { env: { LC_ALL: 'C' } });
  expect(stdout).toContain('  +-ms  ');
  expect(stdout).toMatch(/^[\0-\x7f]*$/);
});
