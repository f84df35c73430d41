// `spanline snapshot` takes the last minute out of a process that runs, and leaves it as it was; what it has written is shown and exported. A
// process without a recorder and one that was killed each get an answer of their own; one that is blocked is in blocked.full.test.ts.
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decodePerfetto } from '../../../../test/formats/support/perfetto-decode.js';
import { decodeJaegerJson } from '../../../archive/src/formats/jaeger-json/read-traces.js';
import { buildFirst, scratch, spanline } from '../support/spanline.js';
import { shopProcesses } from './support/shop-processes.js';

buildFirst();

const dir = scratch();

const { running } = shopProcesses(dir);

const take = async (name: string): Promise<string> => {
  const { pid } = await running({ flightRecorder: {} });
  const file = join(dir, name);
  const outcome = await spanline(['snapshot', pid, '-o', file]);
  expect(outcome).toMatchObject({ code: 0, stdout: '' });
  expect(outcome.stderr).toMatch(/^spanline: 602 spans of the last .+ in .+; see: spanline snapshot show /);
  return file;
};

test('a process that runs is asked twice, and goes on', async () => {
  const { child, pid } = await running({ flightRecorder: {} });
  for (const name of ['one.flight', 'two.flight']) {
    const outcome = await spanline(['snapshot', pid, '-o', name, '--json'], { cwd: dir });
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(outcome.stdout)).toMatchObject({ file: name, pid: child.pid, spanCount: 602 });
    expect(readFileSync(join(dir, name)).length).toBe(JSON.parse(outcome.stdout).bytes);
  }
  expect(child.exitCode).toBeNull();
});

test('show says why it was taken, what it holds and what was slow', async () => {
  const file = await take('show.flight');
  const { code, stdout, stderr } = await spanline(['snapshot', 'show', file, '-n', '3']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^reason +command$/m);
  expect(stdout).toMatch(/^service +shop$/m);
  expect(stdout).toMatch(/^holds +602 spans, 302 traces of the last .+, 1 open, 100 traces recorded here only$/m);
  const rows = stdout.split('\n').filter((line) => /^[0-9a-f]{32} /.test(line));
  expect(rows).toHaveLength(3);
  expect(rows.find((row) => row.endsWith('slow'))).toMatch(/ ms +1 +1 +sampled +slow$/);
  expect(rows.find((row) => row.endsWith('waits'))).toMatch(/ +1 +0 +1 +sampled +waits$/);

  const json = JSON.parse((await spanline(['snapshot', 'show', file, '--json'])).stdout);
  expect(json).toMatchObject({
    reason: { kind: 'command' },
    traces: 302,
    spans: 602,
    open: 1,
    hereOnly: 100,
    tornRows: 0,
  });
  const slow = json.slowest.find(({ name }: { name: string }) => name === 'slow');
  expect(slow).toMatchObject({ spans: 1, errors: 1, open: 0, isSampled: true });
  expect(slow.durationNs).toBeGreaterThan(50e6);
  const durations = json.slowest.map(({ durationNs }: { durationNs: number }) => durationNs);
  expect(durations).toEqual(durations.toSorted((a: number, b: number) => b - a));
  expect(json.slowest).toHaveLength(20);

  const { traceId } = slow;
  const drawn = await spanline(['snapshot', 'show', file, '--trace', traceId.slice(0, 12)]);
  expect(drawn).toMatchObject({ code: 0, stdout: expect.stringContaining(`trace ${traceId}`) });
  expect(drawn.stdout).toContain('too late');
  const document = await spanline(['snapshot', 'show', file, '--trace', traceId, '--json']);
  expect(JSON.parse(document.stdout).resourceSpans[0].scopeSpans[0].spans[0].traceId).toBe(traceId);
  expect((await spanline(['snapshot', 'show', file, '--trace', 'f'.repeat(32)])).code).toBe(1);
  expect((await spanline(['snapshot', 'show', file, '--trace', 'query'])).code).toBe(2);
});

test('export writes it for other tools, and into an archive', async () => {
  const file = await take('export.flight');
  const out = (name: string): string => join(dir, name);
  for (const [format, name] of [
    ['otlp', 'last.jsonl'],
    ['jaeger', 'last.json'],
    ['perfetto', 'last.perfetto-trace'],
    ['archive', 'traces'],
  ]) {
    const outcome = await spanline(['snapshot', 'export', file, '--format', format, '-o', out(name)]);
    expect(outcome).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('302 traces, 602 spans in '),
    });
  }
  expect(readFileSync(out('last.jsonl'), 'utf8').trimEnd().split('\n')).toHaveLength(302);
  expect(decodeJaegerJson(readFileSync(out('last.json'))).spans).toHaveLength(602);
  const { slices } = decodePerfetto(readFileSync(out('last.perfetto-trace')));
  // A stretch of the timeline names the span that had the loop, too.
  const ofSpans = slices.filter(
    ({ args, categories }) => args['span.id'] !== undefined && !categories.includes('busy'),
  );
  expect(ofSpans).toHaveLength(602);
  const found = await spanline(['trace', 'search', '-a', out('traces'), '--property', 'spanline.open=true', '--json']);
  expect(JSON.parse(found.stdout)).toMatchObject({ name: 'waits', spanCount: 1 });
  // What it has written is read again.
  const again = await spanline(['trace', 'import', '-a', out('again'), out('last.jsonl'), '--json']);
  expect(JSON.parse(again.stdout)).toMatchObject([{ documents: 302, spans: 602, refused: 0 }]);
});

test('a process without a recorder is told how to get one', async () => {
  const { pid, child } = await running({});
  const file = join(dir, 'none.flight');
  const outcome = await spanline(['snapshot', pid, '-o', file]);
  expect(outcome).toMatchObject({ code: 2, stdout: '' });
  expect(outcome.stderr).toContain('SPANLINE_FLIGHT_RECORDER=60s,64MiB');
  expect(outcome.stderr).toContain('configure({ flightRecorder');
  expect(existsSync(file)).toBe(false);
  expect(child.exitCode).toBeNull();
});

test('what a killed process has left is shown, and written to one file', async () => {
  const files = join(dir, 'killed');
  mkdirSync(files);
  const { pid, child } = await running({ flightRecorder: { file: files, maxBytes: 1 << 20 } });
  // Asking it makes blocks of what it holds.
  expect((await spanline(['snapshot', pid, '-o', join(dir, 'before.flight')])).code).toBe(0);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const out = join(dir, 'killed.flight');
  const outcome = await spanline(['snapshot', 'recover', files, '-o', out, '--json']);
  expect(outcome).toMatchObject({ code: 0, stderr: expect.stringContaining('spanline snapshot show') });
  const facts = JSON.parse(outcome.stdout);
  expect(facts).toMatchObject({ reason: { kind: 'recovered', text: `process ${pid}` } });
  expect(facts.spans).toBeGreaterThan(0);
  const shown = JSON.parse((await spanline(['snapshot', 'show', out, '--json'])).stdout);
  expect(shown).toEqual(facts);
  expect((await spanline(['snapshot', 'recover', files, '--pid', '1'])).code).toBe(1);
  expect((await spanline(['snapshot', 'recover', join(dir, 'nowhere')])).code).toBe(3);
});

test('what is wrong ends with the code that says so', async () => {
  const other = join(dir, 'other.txt');
  writeFileSync(other, 'no snapshot');
  expect(await spanline(['snapshot', 'show', other])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(other),
  });
  expect(await spanline(['snapshot', 'show', join(dir, 'nowhere')])).toMatchObject({ code: 3 });
  expect(await spanline(['snapshot', 'export', other, '--format', 'otlp', '-o', join(dir, 'x.json')])).toMatchObject({
    code: 3,
  });
  expect(await spanline(['snapshot', '2147483000', '-o', join(dir, 'x.flight')])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('there is no process'),
  });
  expect(await spanline(['snapshot', 'nonsense'])).toMatchObject({ code: 2 });
  const { pid } = await running({ flightRecorder: {} });
  expect(await spanline(['snapshot', pid, '-o', join(dir, 'no/such/x.flight')])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('cannot be written'),
  });
});
