// Reading is bounded and two-fold: a file is checked to its end before its first commit is handed out, within limits on size and
// expansion, and only if nobody writes to it meanwhile.
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, readlinkSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { INGEST_LIMITS } from '../../src/ingest/ingest-file.js';
import { readIngestFile, validateIngestFile } from '../../src/ingest/read-file.js';
import { cleaningRule } from '../../src/params/param-text.js';
import { commitsIn, commitsOf, directory, fileWith } from './support/ingest-files.js';

const MIB = 1024 * 1024;

const line = (commit: string, extra = ''): string =>
  `${JSON.stringify({ group: 'G', commit, date: 1000, benches: [{ name: 'a b', value: 1 }], extra })}\n`;

/** What this process has open, on Linux. */
const openFiles = (): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      // The descriptor of the listing itself is gone by now.
      return [];
    }
  });

const perfFile = { version: 1, git_hash: 'c1', results: [{ key: { test: 'a' }, measurement: 1 }] };

describe('a file', () => {
  it('is told by its content, not by its name', async () => {
    expect(await validateIngestFile(fileWith(line('c1'), 'data.js'))).toEqual({
      format: 'json-lines',
      commits: 1,
      points: 1,
    });
    expect(await validateIngestFile(fileWith(perfFile, 'x.jsonl.gz'))).toMatchObject({ format: 'perf-json' });
    // All on one line.
    expect(await validateIngestFile(fileWith(JSON.stringify(perfFile)))).toMatchObject({ format: 'perf-json' });
    expect(await validateIngestFile(fileWith(`\n\n${line('c1')}`))).toMatchObject({ format: 'json-lines' });
  });

  it('is not JSON lines when a run has several lines', async () => {
    await expect(commitsOf(JSON.parse(line('c1')))).rejects.toThrow('is a run of a benchmark over several lines');
  });

  it('is of the format it is told to be, or of none', async () => {
    await expect(commitsOf(perfFile, { format: 'json-lines' })).rejects.toThrow('results.json:1: is not JSON');
    const options = { format: 'data.js' as 'json-lines' };
    await expect(commitsOf(perfFile, options)).rejects.toThrow(
      'there is no ingest format "data.js"; there are perf-json, github-action-benchmark, json-lines, spanline-bench',
    );
  });

  it('gives its path as the source unless it is named', async () => {
    const path = fileWith(perfFile);
    for await (const { source } of readIngestFile(path)) expect(source).toBe(path);
    expect((await commitsIn(path, { name: 'run 7' }))[0].source).toBe('run 7');
  });

  it('is cleaned by the rule that is given', async () => {
    const [{ points }] = await commitsOf(line('c1'), { rule: cleaningRule('a-zA-Z0-9_ ') });
    expect(points).toEqual([{ params: { suite: 'G', test: 'a b' }, value: 1 }]);
  });

  it.each<[string, (folder: string) => string, string]>([
    ['a directory', (folder) => folder, 'is a directory; name a file'],
    ['nothing', (folder) => join(folder, 'missing'), 'does not exist'],
    ['a device', () => '/dev/null', 'is not a regular file'],
  ])('cannot be %s', async (_what, pathIn, reason) => {
    await expect(commitsIn(pathIn(directory()))).rejects.toMatchObject({
      code: 'ERR_SPANLINE_FILE',
      message: expect.stringContaining(`results.json: ${reason}`),
    });
  });

  it('cannot be empty', async () => {
    await expect(commitsOf('')).rejects.toThrow('results.json: is empty');
    await expect(commitsOf(gzipSync(''))).rejects.toThrow('results.json: has only blank lines');
  });

  it.each([0, -1, Number.NaN])('cannot have a limit of %s', async (maxBytes) => {
    await expect(commitsOf(perfFile, { maxBytes })).rejects.toThrow('maxBytes must be a number above 0');
  });
});

describe('limits', () => {
  it('hold for a document', async () => {
    const size = JSON.stringify(perfFile, null, 2).length;
    await expect(commitsOf(perfFile, { maxDocumentBytes: size })).resolves.toHaveLength(1);
    await expect(commitsOf(perfFile, { maxDocumentBytes: size - 1 })).rejects.toThrow(
      `results.json: is a document of more than ${size - 1} bytes; split it, or raise maxDocumentBytes`,
    );
  });

  it('hold for a line, and count only its bytes', async () => {
    const text = line('c1') + line('c2', 'x'.repeat(100));
    const longest = line('c2', 'x'.repeat(100)).length - 1;
    await expect(commitsOf(text, { maxLineBytes: longest })).resolves.toHaveLength(2);
    await expect(commitsOf(text, { maxLineBytes: longest - 1 })).rejects.toThrow(
      `results.json:2: is longer than ${longest - 1} bytes; raise maxLineBytes`,
    );
  });

  it('hold for all bytes of a file', async () => {
    const text = line('c1').repeat(3000);
    await expect(commitsOf(text, { maxBytes: text.length })).resolves.toHaveLength(3000);
    await expect(commitsOf(text, { maxBytes: text.length - 1 })).rejects.toThrow('raise maxBytes');
  });

  it('stop a gzip bomb long before it is unpacked', async () => {
    // 24 MiB of blank lines in 24 KiB.
    const bomb = gzipSync(Buffer.alloc(24 * MIB, '\n'));
    expect(bomb.length * INGEST_LIMITS.maxExpansion).toBeLessThan(16 * MIB);
    for (const format of ['json-lines', 'perf-json', undefined] as const) {
      await expect(commitsOf(bomb, { format })).rejects.toThrow(`becomes more than ${16 * MIB} bytes; raise maxExpan`);
    }
    const nested = gzipSync(bomb);
    await expect(commitsOf(nested)).rejects.toThrow(/is not (UTF-8|JSON)/);
  });

  it('let a small file grow a lot', async () => {
    const packed = gzipSync(line('c1', ' '.repeat(8 * MIB)));
    expect(packed.length * INGEST_LIMITS.maxExpansion).toBeLessThan(8 * MIB);
    await expect(commitsOf(packed)).resolves.toHaveLength(1);
  });

  it('keep the memory of JSON lines bounded', async () => {
    const path = fileWith(gzipSync(Array.from({ length: 40 }, (_, at) => line(`c${at}`, 'x'.repeat(MIB))).join('')));
    const used = (): number => {
      globalThis.gc?.();
      return process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
    };
    let highest = 0;
    let count = 0;
    const before = used();
    for await (const _commit of readIngestFile(path, { maxExpansion: 2000 })) {
      if (++count % 8 === 0) highest = Math.max(highest, used() - before);
    }
    // A line of 1 MiB as bytes, as text and parsed, and the one behind it, are some 6 MiB; all lines are 40 MiB and more.
    expect(highest).toBeLessThan(16 * MIB);
  });
});

describe('a file that somebody writes to', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, at) => line(`c${at}`, 'x'.repeat(1000))).join('');

  it('is given up, when it grows or is rewritten', async () => {
    const longAgo = new Date('2020-01-01');
    for (const change of [
      (path: string) => appendFileSync(path, line('new')),
      (path: string) => {
        appendFileSync(path, line('new'));
        // A file system whose clock is too coarse to show the second write.
        utimesSync(path, longAgo, longAgo);
      },
      (path: string) => writeFileSync(path, lines(1000).replaceAll('"value":1', '"value":2')),
      (path: string) => writeFileSync(path, line('short')),
    ]) {
      const path = fileWith(lines(1000));
      utimesSync(path, longAgo, longAgo);
      const values = new Set<number>();
      const reading = (async () => {
        for await (const { commit, points } of readIngestFile(path, { name: 'results.json' })) {
          values.add(points[0].value);
          if (commit === 'c0') change(path);
        }
      })();
      await expect(reading).rejects.toThrow('results.json: was changed while it was read; try again');
      expect([...values]).toEqual([1]);
    }
  });

  it('may be moved, and another may take its place', async () => {
    const path = fileWith(lines(1000));
    let count = 0;
    for await (const { commit } of readIngestFile(path)) {
      count++;
      if (commit === 'c0') {
        renameSync(path, `${path}.1`);
        writeFileSync(path, 'another');
      }
    }
    expect(count).toBe(1000);
  });
});

describe('a reader', () => {
  it('may stop early and leaves nothing open', async () => {
    const path = fileWith(gzipSync(line('c1', 'x'.repeat(100_000)).repeat(50)));
    for (let round = 0; round < 5; round++) {
      for await (const _commit of readIngestFile(path, { maxExpansion: 2000 })) break;
      await expect(commitsIn(path, { maxLineBytes: 10 })).rejects.toThrow('raise maxLineBytes');
    }
    expect(process.getActiveResourcesInfo().filter((name) => name.startsWith('Zlib'))).toEqual([]);
    if (process.platform === 'linux') expect(openFiles()).not.toContain(path);
  });

  it('does not wait for a named pipe', async () => {
    const path = join(directory(), 'pipe');
    // Where there is no such program, there is no such pipe.
    if (spawnSync('mkfifo', [path]).status !== 0) return;
    await expect(commitsIn(path)).rejects.toThrow('results.json: is not a regular file');
  });

  it('may abort', async () => {
    const path = fileWith(line('c1').repeat(10_000));
    const controller = new AbortController();
    let count = 0;
    const reading = (async () => {
      for await (const _commit of readIngestFile(path, { signal: controller.signal })) {
        if (++count === 1) controller.abort(new Error('enough'));
      }
    })();
    await expect(reading).rejects.toMatchObject({ code: 'ERR_SPANLINE_ABORTED', cause: new Error('enough') });
    expect(count).toBeLessThan(10_000);
    const late = validateIngestFile(path, { signal: AbortSignal.abort() });
    await expect(late).rejects.toMatchObject({ code: 'ERR_SPANLINE_ABORTED' });
  });

  it('gets the same commits every time', async () => {
    const folder = directory();
    mkdirSync(join(folder, 'a'));
    const path = join(folder, 'a', 'results.json');
    writeFileSync(path, JSON.stringify(perfFile));
    expect(await commitsIn(path)).toEqual(await commitsIn(path));
  });
});
