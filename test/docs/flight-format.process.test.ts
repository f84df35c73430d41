// docs/formats.md on the files of the flight recorder: a reader that is written from the page alone finds in a snapshot, and in the mapped file, what was
// recorded. It shares no code with ours.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { saveSnapshot } from '../../src/flight-recorder/index.js';
import { configure, LocalSpan, Span } from '../../src/index.js';

interface Row {
  readonly name: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceId: string;
  readonly durationMs: number;
  readonly flags: number;
  readonly properties: Record<string, unknown>;
}

const hex = (...words: readonly number[]): string =>
  words.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');

const textAt = (text: Buffer, at: number, bytes: number, encoding: number): string =>
  text.toString((['latin1', 'utf8', 'utf16le'] as const)[encoding], at, at + bytes);

/** Properties of a row by its entries; enough for those below. */
const propertiesOf = (words: Int32Array, text: Buffer, names: ReadonlyMap<number, string>) => {
  const properties: Record<string, unknown> = {};
  let key = '';
  for (let at = 0; at < words.length; at += 4) {
    const [number, tags, a, b] = words.subarray(at, at + 4);
    const tag = tags & 0xff;
    const shown = textAt(text, a, b, (tags >> 8) & 0xff);
    if (tag === 7) {
      key = shown;
      continue;
    }
    if (tag > 5) continue;
    const name = number === 0 ? key : (names.get(number) as string);
    const value = Buffer.from(words.buffer, words.byteOffset + at * 4 + 8, 8).readDoubleLE();
    properties[name] = tag === 1 ? value : tag === 4 ? shown : tag === 5 ? BigInt(shown) : tag === 2;
  }
  return properties;
};

const blockRows = (bytes: Buffer): Row[] => {
  const word = (at: number): number => bytes.readUInt32LE(at * 4);
  const [rows, entries, textBytes, metaBytes, traces] = [4, 5, 6, 7, 8].map(word);
  expect(word(3)).toBe(crc32(bytes.subarray(64)));
  const memory = new Uint8Array(bytes).buffer;
  let at = 64;
  const take = (length: number): number => {
    at += length;
    return at - length;
  };
  const doubles = (count: number) => new Float64Array(memory, take(count * 8), count);
  const words = (count: number) => new Int32Array(memory, take(count * 4), count);
  const [begin, end, entry] = [doubles(rows), doubles(rows), words(entries * 4)];
  const [idHi, idLo, parentHi, parentLo, trace, name, flags] = Array.from({ length: 7 }, () => words(rows));
  const [head, traceRow] = [words(rows + 1), words(traces * 8)];
  const text = Buffer.from(memory, take(textBytes), textBytes);
  const meta = JSON.parse(Buffer.from(memory, take(metaBytes), metaBytes).toString());
  const names = new Map<number, string>(meta.names);
  return Array.from({ length: rows }, (_, i) => ({
    name: names.get(name[i]) as string,
    spanId: hex(idHi[i], idLo[i]),
    parentSpanId: hex(parentHi[i], parentLo[i]),
    traceId: hex(...traceRow.subarray(trace[i] * 8, trace[i] * 8 + 4)),
    durationMs: ((end[i] - begin[i]) * meta.anchor.nsPerTick) / 1e6,
    flags: flags[i],
    properties: propertiesOf(entry.slice(head[i] * 4, head[i + 1] * 4), text, names),
  }));
};

/** What a file of records has: JSON records, and the rows of each block. */
const readRecords = (bytes: Buffer) => {
  const json: Record<string, unknown>[] = [];
  const blocks: Row[][] = [];
  for (let at = 0; at < bytes.length; ) {
    const record = bytes.subarray(at, at + bytes.readUInt32LE(at + 8));
    expect(record.length % 8).toBe(0);
    expect(record.readUInt32LE(4)).toBe(1);
    if (record.toString('latin1', 0, 4) === 'SPFL') blocks.push(blockRows(record));
    else {
      expect(record.toString('latin1', 0, 4)).toBe('SPFJ');
      expect(record.readUInt32LE(12)).toBe(crc32(record.subarray(16)));
      json.push(JSON.parse(record.toString('utf8', 16)));
    }
    at += record.length;
  }
  return { json, blocks };
};

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'spanline-flight-'));
});

afterEach(() => {
  configure({ flightRecorder: false });
  rmSync(directory, { recursive: true, force: true });
});

const record = (): { root: Span; open: Span } => {
  const root = Span.root('GET /', undefined, {
    kind: 'server',
    properties: { rows: 7, table: 'ü', big: 5n, ok: true },
  });
  root.run(() => LocalSpan.start('parse').end());
  root.end();
  return { root, open: Span.root('open') };
};

test('a snapshot', async () => {
  configure({ flightRecorder: { timeline: false } });
  const { root, open } = record();
  const path = join(directory, 'a.flight');
  await saveSnapshot(path, 'why');
  open.end();
  const { json, blocks } = readRecords(readFileSync(path));
  expect(json).toMatchObject([{ kind: 'snapshot', reason: { kind: 'call', text: 'why' }, blocks: 1 }]);
  const [ended, unended] = blocks;
  const { traceId, spanId } = root.context as NonNullable<typeof root.context>;
  const found = new Map(ended.map((row) => [row.name, row]));
  expect(found.get('GET /')).toMatchObject({
    spanId,
    traceId,
    parentSpanId: '0'.repeat(16),
    flags: 1 + 64,
    properties: { rows: 7, table: 'ü', big: 5n, ok: true },
  });
  expect(found.get('parse')).toMatchObject({ traceId, parentSpanId: spanId, flags: 32 });
  expect(found.get('GET /')?.durationMs).toBeGreaterThan(0);
  expect(unended.map(({ name }) => name)).toEqual(['open']);
});

const sumOf = (words: Int32Array): number => {
  const chains = [1, 2, 3, 4];
  const whole = words.length - (words.length % 4);
  for (const [i, word] of words.entries()) {
    const chain = i < whole ? i % 4 : 0;
    chains[chain] = Math.imul(chains[chain] ^ word, 0x01000193);
  }
  const [a, b, c, d] = chains;
  return [b, c, d].reduce((sum, chain) => Math.imul(sum ^ chain, 0x01000193), a);
};

test('the mapped file', () => {
  configure({ flightRecorder: { timeline: false, file: directory } });
  const { open } = record();
  const name = readdirSync(directory).find((one) => /^flight-\d+-\d+-tail$/.test(one));
  // Without the addon for this Node there is none.
  if (name === undefined) return;
  const bytes = readFileSync(join(directory, name));
  open.end();
  expect(bytes.length).toBe(4 << 20);
  expect(bytes.toString('latin1', 0, 4)).toBe('STIL');
  const words = new Int32Array(new Uint8Array(bytes).buffer);
  expect([words[1], words[2], words[5]]).toEqual([1, process.pid, 0]);

  const names = new Map<number, string>();
  for (let at = 64; at < 64 + words[4]; ) {
    names.set(words[at], bytes.toString('utf16le', (at + 2) * 4, (at + 2) * 4 + words[at + 1]));
    at += 2 + Math.ceil(words[at + 1] / 4);
  }
  const openAt = 64 + 131_072;
  const isOpen = (i: number): boolean => words[openAt + i * 16] === 1;
  const unended = Array.from({ length: words[6] }, (_, i) => i).filter(isOpen);
  expect(unended.map((i) => names.get(words[openAt + i * 16 + 1]))).toEqual(['open']);

  const [at = 0] = unended.map((i) => openAt + i * 16);
  expect(words[at + 11]).toBe(sumOf(words.subarray(at + 1, at + 11)));

  const rowsAt = openAt + words[6] * 16;
  const ended: string[] = [];
  for (let at = rowsAt; at < rowsAt + words[3]; at += words[at]) {
    expect(words[at + 1]).toBe(sumOf(words.subarray(at + 2, at + words[at])));
    ended.push(names.get(words[at + 6]) as string);
  }
  expect(ended.sort()).toEqual(['GET /', 'parse']);
});
