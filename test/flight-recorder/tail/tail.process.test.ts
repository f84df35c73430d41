// What is in no block yet lies in the mapped file as it was recorded: read from there it is the same as in a snapshot, whatever it holds, and what is
// torn is left out and counted, never shown as something else.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { loadFastCall } from '../../../src/clock/binding.js';
import { readRecords } from '../../../src/flight-recorder/flight-records.js';
import { recoverSnapshot } from '../../../src/flight-recorder/index.js';
import type { Snapshot } from '../../../src/flight-recorder/snapshot-types.js';
import { TailFile } from '../../../src/flight-recorder/tail/tail-file.js';
import { LocalSpan, Span, SpanContext } from '../../../src/index.js';
import fc from '../../support/fast-check.js';
import { sampleOf, samples } from '../../support/samples.js';
import { flight } from '../support/flight.js';

const directory = mkdtempSync(join(tmpdir(), 'spanline-tail-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const fresh = (): string => mkdtempSync(join(directory, 'x'));

const hasAddon = loadFastCall().module?.mapFile !== undefined;

const fileIn = (place: string, end: string): string => {
  const name = readdirSync(place).find((one) => one.endsWith(end));
  if (name === undefined) throw new Error(`no file *${end}`);
  return join(place, name);
};
const tailIn = (place: string): string => fileIn(place, '-tail');

/** Everything of ended spans but their times, which two anchors of the clock put some nanoseconds apart. */
const endedOf = (snapshot: Snapshot): string[] =>
  [...snapshot.traces()]
    .flatMap(({ traceId, isSampled, spans }) =>
      spans
        .filter(({ isOpen }) => !isOpen)
        .map(({ record: { spanId, parentSpanId, name, kind, status, properties, events, links, isLocal } }) =>
          JSON.stringify(
            [
              traceId,
              isSampled,
              spanId,
              parentSpanId,
              name,
              kind,
              status,
              properties,
              isLocal,
              links,
              ...events.map(({ name, properties }) => [name, properties]),
            ],
            (_, value) => (typeof value === 'bigint' ? `${value}n` : value),
          ),
        ),
    )
    .sort();
const openOf = (snapshot: Snapshot): string[] =>
  [...snapshot.traces()]
    .flatMap(({ traceId, spans }) =>
      spans
        .filter(({ isOpen }) => isOpen)
        .map(({ record: { spanId, parentSpanId, name } }) =>
          // Names of more characters have no number, which is all that is written of a name that is open.
          [traceId, spanId, parentSpanId, name.length > 256 ? '(name not kept)' : name].join(' '),
        ),
    )
    .sort();

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 70 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.constant('\ud800'),
);
const value = fc.oneof(
  text,
  fc.double(),
  fc.boolean(),
  fc.bigInt({ min: 0n, max: 2n ** 70n }),
  fc.array(text, { maxLength: 3 }),
);
const properties = fc.dictionary(fc.string({ minLength: 1, maxLength: 12 }), value, { maxKeys: 6 });
const step = fc.record({
  what: fc.constantFrom('root', 'child', 'local', 'event', 'link', 'end', 'error', 'keep', 'cancel', 'unsampled'),
  which: fc.nat(),
  name: fc.oneof(fc.constantFrom('GET /a', 'query'), text, fc.string({ minLength: 257, maxLength: 300 })),
  properties,
});

test.runIf(hasAddon)('random spans are recovered as a snapshot has them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const place = fresh();
      const it = flight({ sampler: ({ name }) => !name.startsWith('unsampled') }, { file: place });
      const open: Span[] = [];
      const roots: Span[] = [];
      const pick = (from: readonly Span[], which: number): Span | undefined => from[which % Math.max(1, from.length)];
      for (const { what, which, name, properties } of steps) {
        const span = pick(open, which);
        if (what === 'root' || what === 'unsampled') {
          const root = it.root(what === 'root' ? name : `unsampled ${name}`).addProperties(properties);
          roots.push(root);
          open.push(root);
        } else if (what === 'keep') it.collector.observeNow();
        else if (span === undefined) continue;
        else if (what === 'child') open.push(Span.start(name, span).addProperties(properties));
        else if (what === 'local') span.run(() => LocalSpan.start(name).addProperties(properties).end());
        else if (what === 'event') span.addEvent(name, properties);
        else if (what === 'link') span.addLink(SpanContext.random(), properties);
        else if (what === 'error') span.setStatus('error', name);
        else if (what === 'cancel') pick(roots, which)?.cancel();
        else {
          open.splice(open.indexOf(span), 1);
          span.end();
        }
      }
      // As if it were killed here: what it leaves is in its files.
      const recovered = await recoverSnapshot(place).catch((error: { code?: string }) => {
        expect(error.code).toBe('ERR_SPANLINE_FLIGHT_NOTHING');
        return undefined;
      });
      const taken = it.snapshot();
      it.recorder.stop();
      expect(recovered?.tornRows ?? 0).toBe(0);
      expect(recovered === undefined ? [] : endedOf(recovered)).toEqual(endedOf(taken));
      expect(recovered === undefined ? [] : openOf(recovered)).toEqual(openOf(taken));
    }),
    { numRuns: samples(15, 60, 1000) },
  );
});

test.runIf(hasAddon)(
  'a flipped byte loses the row that it is in, and is counted; it never shows what was not recorded',
  async () => {
    const place = fresh();
    const it = flight({}, { file: place });
    const open = it.root('open');
    for (let i = 0; i < 300; i++) {
      const child = Span.start(`query ${i % 5}`, open).addProperty('text', `text ${i}`);
      child.end();
    }
    // At once: five times a second rows move from the mapped file into a block.
    const bytes = readFileSync(tailIn(place));
    const copy = fresh();
    for (const name of readdirSync(place)) writeFileSync(join(copy, name), readFileSync(join(place, name)));
    it.recorder.stop();
    const whole = await recoverSnapshot(copy);
    const all = new Set([...endedOf(whole), ...openOf(whole)]);
    expect(all.size).toBe(301);
    const used = [...bytes.keys()].filter((at) => at > 64 && bytes[at] !== 0);
    // Names are written once, for all rows that have them, and those of this thread before: they have no sum.
    const namesEnd = 64 * 4 + (128 << 10) * 4;
    const ofNames = sampleOf(
      used.filter((at) => at < namesEnd),
      5,
      30,
      200,
    );
    const ofRows = sampleOf(
      // Behind the bit by which the open span's place is taken: without it the place is free.
      used.filter((at) => at > namesEnd),
      20,
      90,
      800,
    );
    let torn = 0;
    for (const [i, at] of [...ofNames, ...ofRows].entries()) {
      const damaged = Buffer.from(bytes);
      damaged[at] ^= 1 << (i % 8);
      writeFileSync(tailIn(copy), damaged);
      const read = await recoverSnapshot(copy);
      const seen = [...endedOf(read), ...openOf(read)];
      if (at >= namesEnd) expect(seen.filter((one) => !all.has(one))).toEqual([]);
      if (seen.length < all.size) {
        expect(read.tornRows).toBeGreaterThan(0);
        torn++;
      }
    }
    expect(torn).toBeGreaterThan(ofRows.length / 3);
  },
);

test.runIf(hasAddon)('what is killed between a block and the next row is there once', async () => {
  const place = fresh();
  const it = flight({}, { file: place });
  for (let i = 0; i < 100; i++) it.root('GET /').end();
  const before = readFileSync(tailIn(place));
  it.collector.observeNow();
  const copy = fresh();
  for (const name of readdirSync(place)) writeFileSync(join(copy, name), readFileSync(join(place, name)));
  // As it was when the block was written and the rows had not begun anew.
  writeFileSync(tailIn(copy), before);
  expect((await recoverSnapshot(copy)).spanCount).toBe(100);
  expect(readRecords(readFileSync(fileIn(copy, '.rows'))).blocks.length).toBe(1);
  it.recorder.stop();
  expect(readdirSync(place).some((name) => name.endsWith('-tail'))).toBe(false);
});

test.runIf(hasAddon)('a span that is killed at any moment of its end is there once, open or ended', async () => {
  const place = fresh();
  const it = flight({}, { file: place });
  const copies: string[] = [];
  let isWatched = false;
  /** What a process leaves that is killed here. */
  const leave = (): void => {
    if (!isWatched) return;
    const copy = fresh();
    for (const name of readdirSync(place)) writeFileSync(join(copy, name), readFileSync(join(place, name)));
    copies.push(copy);
  };
  for (const name of ['added', 'ended', 'observed'] as const) {
    const original = TailFile.prototype[name] as (...args: unknown[]) => void;
    vi.spyOn(TailFile.prototype, name).mockImplementation(function (this: TailFile, ...args: unknown[]) {
      leave();
      Reflect.apply(original, this, args);
      leave();
    } as never);
  }
  onTestFinished(() => void vi.restoreAllMocks());
  const other = it.root('other');
  const check = async (span: Span, count: number): Promise<void> => {
    const own = span.context?.spanId;
    isWatched = true;
    span.end();
    isWatched = false;
    expect(copies.length).toBeGreaterThan(3);
    for (const copy of copies.splice(0)) {
      const spans = [...(await recoverSnapshot(copy)).traces()].flatMap((trace) => trace.spans);
      const ids = spans.map(({ record }) => record.spanId);
      expect(ids.filter((id) => id === own)).toHaveLength(1);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids).toHaveLength(count);
    }
  };
  await check(it.root('root'), 2);
  await check(Span.start('child', other), 3);
  // More than the mapped file has room for: its row goes into a block.
  await check(it.root('large').addProperty('body', 'x'.repeat(3 << 20)), 4);
  it.recorder.stop();
});

test.runIf(hasAddon)('rows that the mapped file has no room for are in blocks', async () => {
  const place = fresh();
  const it = flight({}, { file: place });
  const long = 'x'.repeat(3 << 20);
  for (let i = 0; i < 5; i++) it.root(`GET /${i}`).addProperty('body', long).end();
  const recovered = await recoverSnapshot(place);
  const bodies = [...recovered.traces()].map(({ spans }) => String(spans[0].record.properties.body).length);
  expect(bodies).toEqual(Array(5).fill(long.length));
  it.recorder.stop();
});

test.runIf(hasAddon)('a directory whose disk is full is refused, and nothing stays', (context) => {
  const place = fresh();
  const mount = (...args: string[]): void => {
    execFileSync('mount', args, { stdio: 'pipe' });
  };
  try {
    mount('-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', place);
  } catch {
    context.skip('a small tmpfs cannot be mounted here');
  }
  try {
    const own = join(place, 'flight');
    mkdirSync(own);
    expect(() => flight({}, { file: own })).toThrow(
      expect.objectContaining({ code: 'ERR_SPANLINE_OPTION', message: expect.stringContaining('ENOSPC') }),
    );
    expect(readdirSync(own)).toEqual([]);
  } finally {
    execFileSync('umount', [place]);
  }
});

test('without the addon blocks alone are written', async () => {
  const place = fresh();
  const loaded = loadFastCall() as { module?: object };
  const { module } = loaded;
  delete loaded.module;
  try {
    const it = flight({}, { file: place });
    it.root('GET /').end();
    it.collector.observeNow();
    expect(readdirSync(place).map((name) => name.replace(/.*-/, ''))).toEqual(['1.rows']);
    expect((await recoverSnapshot(place)).spanCount).toBe(1);
    it.recorder.stop();
  } finally {
    if (module !== undefined) loaded.module = module;
  }
});
