// Whatever a file holds, reading it gives valid commits or a TraceDbError of one line that names the file: never another error,
// never an answer that depends on half of it.
import { readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import type { IngestCommit } from '../../src/ingest/ingest-commit.js';
import type { IngestOptions } from '../../src/ingest/read-file.js';
import { checkParams } from '../../src/params/param-text.js';
import { TraceDbError } from '../../src/tracedb-error.js';
import { commitsOf } from './support/ingest-files.js';

const benches = [
  { name: 'create spans (10 attributes)', value: 774752.25, range: '±0.17%', unit: 'ops/sec' },
  { name: 'encode "ü" \u{1f600}', value: -1.5e-7, unit: 'ns/op\t 1 B/op' },
];
const timestamp = '2023-10-01T22:00:15+02:00';

const SAMPLES: Readonly<Record<string, string>> = {
  'perf-json': JSON.stringify({
    version: 1,
    git_hash: 'cd5793038d2cbd1ccd1ad0b2a6c4b5e0a8b2d663',
    key: { arch: 'x86' },
    results: [
      { key: { test: 'a' }, measurement: 1.5 },
      { key: { test: 'b' }, measurements: { stat: [{ value: 'min', measurement: 1e32, links: { l: 'x' } }] } },
    ],
    links: { details: 'https://example.com' },
  }),
  'github-action-benchmark': `window.BENCHMARK_DATA = ${JSON.stringify(
    { entries: { S: [{ commit: { id: 'c1', timestamp, url: 'u' }, date: 1, tool: 't', benches }] } },
    null,
    2,
  )}`,
  'json-lines': ['c1', 'c2', 'c3']
    .map((commit) => JSON.stringify({ group: 'G', commit, timestamp, date: 1, tool: 't', benches }))
    .join('\r\n'),
  'spanline-bench': readFileSync(new URL('fixtures/spanline-bench.json', import.meta.url), 'utf8'),
};

const OPTIONS: Readonly<Record<string, IngestOptions>> = { 'spanline-bench': { commit: 'c1' } };

const flipped = (bytes: Uint8Array, at: number): Uint8Array => {
  const copy = Uint8Array.from(bytes);
  copy[at >> 3] ^= 1 << (at & 7);
  return copy;
};

const expectValid = (commits: readonly IngestCommit[]): void => {
  for (const { commit, measuredMs, timestampMs = 0, points, source } of commits) {
    expect(commit).toMatch(/^[\x21-\x7e]{1,256}$/);
    expect(Number.isSafeInteger(measuredMs) && Number.isSafeInteger(timestampMs)).toBe(true);
    expect(source.startsWith('results.json')).toBe(true);
    for (const { params, value } of points) {
      checkParams(params);
      expect(Number.isFinite(Math.fround(value))).toBe(true);
    }
  }
};

/** Reads `content`; returns the message of the error, or undefined when it was good. */
const outcome = async (content: unknown, options?: IngestOptions): Promise<string | undefined> => {
  try {
    expectValid(await commitsOf(content, options));
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(TraceDbError);
    const { code, message } = error as TraceDbError;
    expect(code).toBe('ERR_SPANLINE_INVALID_INPUT');
    expect(message).toMatch(/^results\.json:[^\p{Cc}]*$/u);
    expect(message.length).toBeLessThan(600);
    return message;
  }
};

/** `property` of places below `end`. */
const atAnyPlace = (end: number, property: (at: number) => Promise<void>): Promise<void> =>
  fc.assert(fc.asyncProperty(fc.nat(end - 1), property), { numRuns: samples(6, 40, 2000) });

describe.each(Object.keys(SAMPLES))('a %s file', (format) => {
  // Without the end of its last line, which nobody misses.
  const whole = Buffer.from(SAMPLES[format].trimEnd());
  const options = OPTIONS[format];

  it('is good before it is harmed', async () => {
    expect(await outcome(whole, options)).toBeUndefined();
    expect(await outcome(gzipSync(whole), options)).toBeUndefined();
  });

  it('cut anywhere is refused or read as what is left', async () => {
    await atAnyPlace(whole.length, async (length) => {
      const message = await outcome(whole.subarray(0, length), options);
      // Only whole lines of JSON lines are a file of their own.
      if (format !== 'json-lines') expect(message).toBeDefined();
    });
  });

  it('cut anywhere while compressed is refused', async () => {
    const packed = gzipSync(whole);
    await atAnyPlace(packed.length, async (length) => {
      expect(await outcome(packed.subarray(0, length), options)).toBeDefined();
    });
  });

  it('with a flipped bit is refused or read as what it says', async () => {
    await atAnyPlace(whole.length * 8, async (bit) => {
      await outcome(flipped(whole, bit), options);
    });
  });

  it('with a flipped bit while compressed is refused, or the same', async () => {
    const packed = gzipSync(whole);
    await atAnyPlace(packed.length * 8, async (bit) => {
      const harmed = flipped(packed, bit);
      if ((await outcome(harmed, options)) === undefined) {
        // The header has bytes that mean nothing to the content.
        expect(gunzipSync(harmed).equals(whole)).toBe(true);
      }
    });
  });

  it('told to be of any format is refused or valid', async () => {
    for (const reported of ['perf-json', 'github-action-benchmark', 'json-lines', 'spanline-bench'] as const) {
      const message = await outcome(whole, { ...options, format: reported });
      if (reported !== format) expect(message).toBeDefined();
    }
  });
});

describe('a file', () => {
  it.each<[string, string, string]>([
    ['arrays nested a million deep', `${'['.repeat(1e6)}${']'.repeat(1e6)}`, 'is an array of 1, which is none of'],
    ['objects nested without end', '{"a":'.repeat(1e5), 'is not JSON: it ends too early'],
    [
      'a deep value where a number should be',
      `{"version":1,"git_hash":"c","results":[{"key":{},"measurement":${'['.repeat(1e5)}${']'.repeat(1e5)}}]}`,
      '/results/0/measurement must be number, got an array of 1',
    ],
    [
      'a deep value that nobody looks at',
      `{"entries":{"S":[{"commit":{"id":"c","x":${'['.repeat(1e5)}${']'.repeat(1e5)}},"date":1,"benches":[{}]}]}}`,
      '/entries/S/0/benches/0 lacks the property "name"',
    ],
    [
      'a million errors',
      `{"version":1,"git_hash":"c","results":[${'{},'.repeat(1e6)}{}]}`,
      '/results/0 lacks the property "key"',
    ],
    [
      'an endless key',
      `{"version":1,"git_hash":"c","results":[],"${'k'.repeat(1e6)}":1}`,
      'has the unknown property "kkkk',
    ],
    [
      'an endless param',
      `{"version":1,"git_hash":"c","results":[{"key":{"k":"${'v'.repeat(1e6)}"},"measurement":1}]}`,
      '/results/0 has params that cannot be used',
    ],
    ['control characters in a value', '{"version":1,"git_hash":"\\u001b[2J\\u009b","results":[]}', '/git_hash must be'],
    ['control characters in a key', '{"version":1,"git_hash":"c","\\u009b\\u202e":1,"results":[]}', 'has the unknown'],
    ['a number', '3', 'is 3, which is none of the formats perf-json, github-action-benchmark'],
    ['another object', '{"name":"x","version":"1.0.0"}', 'is an object with "name", "version", which is none of'],
    ['nothing but blanks', ' \n\t\r\n ', 'has only blank lines'],
    ['nothing but a byte order mark', '\ufeff', 'has only blank lines'],
    ['text', 'hello', 'is not JSON'],
  ])('with %s is refused', async (_what, content, reason) => {
    expect(await outcome(content)).toContain(`results.json: ${reason}`);
  });

  it.each([
    '{"version":1,"git_hash":"c","results":[{"key":{"__proto__":"x"},"measurement":1}]}',
    '{"version":1,"git_hash":"c","key":{"__proto__":"x"},"results":[{"key":{},"measurement":1}]}',
    '{"version":1,"git_hash":"c","results":[{"key":{},"measurements":{"__proto__":[{"value":"x","measurement":1}]}}]}',
  ])('with a param named __proto__ is refused: %s', async (content) => {
    expect(await outcome(content)).toContain('has a param named "__proto__"; rename it');
  });

  it.each([
    '{"__proto__":{"git_hash":"c"},"version":1,"results":[]}',
    '{"__proto__":{"entries":{}}}',
    '{"version":1,"git_hash":"c","results":[{"__proto__":{"measurement":1},"key":{}}]}',
    '{"entries":[],"__proto__":null}',
  ])('gets nothing from __proto__: %s', async (content) => {
    expect(await outcome(content)).toBeDefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it('may have names that objects inherit', async () => {
    const key = { constructor: 'a', toString: 'b', hasOwnProperty: 'c', valueOf: 'd' };
    const [{ points }] = await commitsOf({ version: 1, git_hash: 'c', results: [{ key, measurement: 1 }] });
    expect(points[0].params).toEqual(key);
    const [run] = await commitsOf(
      '{"entries":{"__proto__":[{"commit":{"id":"c"},"date":1,"benches":[{"name":"a","value":1}]}]}}',
    );
    expect(run.points[0].params).toEqual({ suite: '__proto__', test: 'a' });
  });

  it('that is not UTF-8 is refused, never read with other names', async () => {
    const text = SAMPLES['perf-json'];
    expect(await outcome(Buffer.from(text.replace('x86', 'xü6'), 'latin1'))).toContain('is not UTF-8');
    expect(await outcome(Buffer.from(`\ufeff${text}`, 'utf16le'))).toContain('is UTF-16; save it as UTF-8');
  });
});
