// A file appears whole or not at all: whatever ends the writer, readers see the old file or the new one, and no other is left behind.
import { execFileSync, spawn } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { bundleChild, resultOf, runFile } from '../../../../test/support/child.js';
import { AtomicFileSink, BufferSink } from '../../src/container/container-writer.js';
import { ClosedError, NotFoundError, TransportError } from '../../src/container/graph-error.js';
import { thrownBy } from './support/errors.js';
import { temporaryDirectory } from './support/temporary-directory.js';

const directory = temporaryDirectory();
let folders = 0;
const newFolder = (): string => {
  const path = join(directory, `d${folders++}`);
  mkdirSync(path);
  return path;
};

let child: string;
beforeAll(async () => {
  child = await bundleChild(fileURLToPath(new URL('children/write-file.ts', import.meta.url)));
});

/** Pieces of all sizes around that of the sink's buffer. */
const PIECES = [0, 1, 1_000, 1_048_575, 1_048_576, 1_048_577, 3, 2_500_000].map((length, i) =>
  Buffer.alloc(length, `piece ${i}`),
);

describe('a sink', () => {
  test('keeps every byte in order, also when the writer reuses its buffer', () => {
    const path = join(newFolder(), 'file');
    for (const sink of [new BufferSink(), new AtomicFileSink(path)]) {
      const reused = Buffer.alloc(3_000_000);
      let written = 0;
      for (const piece of PIECES) {
        piece.copy(reused);
        sink.write(reused.subarray(0, piece.length));
        reused.fill(0xff);
        written += piece.length;
        expect(sink.position).toBe(written);
      }
      sink.finish();
      const whole = sink instanceof BufferSink ? sink.toBuffer() : readFileSync(path);
      expect(whole.equals(Buffer.concat(PIECES))).toBe(true);
      // What is finished stays.
      sink.abort();
      expect(thrownBy(() => sink.write(Buffer.from('more')))).toBeInstanceOf(ClosedError);
      const after = sink instanceof BufferSink ? sink.toBuffer() : readFileSync(path);
      expect(after.length).toBe(written);
    }
  });
});

describe('a file', () => {
  test('does not take the place of a pipe, a device or a directory', () => {
    const folder = newFolder();
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const path of [pipe, folder]) {
      const refused = thrownBy(() => new AtomicFileSink(path));
      expect(refused).toBeInstanceOf(TransportError);
      expect((refused as Error).message).toContain('not a regular file');
    }
    expect(readdirSync(folder)).toEqual(['pipe']);
    expect(lstatSync(pipe).isFIFO()).toBe(true);
  });

  test('is written where a link leads', () => {
    const folder = newFolder();
    const [file, link] = [join(folder, 'file'), join(folder, 'link')];
    writeFileSync(file, 'old');
    symlinkSync(file, link);
    const sink = new AtomicFileSink(link);
    sink.write(Buffer.from('new'));
    sink.finish();
    expect(readFileSync(file, 'utf8')).toBe('new');
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(['file', 'link']);
  });

  test('is not to be seen before it is finished', () => {
    const folder = newFolder();
    const path = join(folder, 'file');
    writeFileSync(path, 'old');
    const sink = new AtomicFileSink(path);
    for (const piece of PIECES) sink.write(piece);
    expect(readFileSync(path, 'utf8')).toBe('old');
    sink.finish();
    expect(readFileSync(path).equals(Buffer.concat(PIECES))).toBe(true);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  test('that is aborted leaves nothing', () => {
    const folder = newFolder();
    const sink = new AtomicFileSink(join(folder, 'file'));
    for (const piece of PIECES) sink.write(piece);
    sink.abort();
    sink.abort();
    expect(readdirSync(folder)).toEqual([]);
    expect(thrownBy(() => sink.finish())).toBeInstanceOf(ClosedError);
  });

  test('that cannot be begun names its path', () => {
    const path = join(directory, 'no such folder', 'file');
    const failure = thrownBy(() => new AtomicFileSink(path));
    expect(failure).toBeInstanceOf(TransportError);
    expect(failure).not.toBeInstanceOf(NotFoundError);
    expect(failure.message).toContain(path);
  });

  test('that cannot be renamed leaves nothing', () => {
    const folder = newFolder();
    const path = join(folder, 'taken');
    const sink = new AtomicFileSink(path);
    mkdirSync(path);
    sink.write(Buffer.from('text'));
    expect(thrownBy(() => sink.finish())).toBeInstanceOf(TransportError);
    expect(readdirSync(folder)).toEqual(['taken']);
  });

  test('that outgrows the disk leaves nothing', async () => {
    const folder = newFolder();
    // The shell lets the child write half a megabyte at most.
    const result = await runFile('-c', {
      node: 'sh',
      args: ['ulimit -f 1024; exec "$0" "$@"', process.execPath, child, join(folder, 'file'), 'x', '1', '4000000'],
    });
    expect(resultOf(result)).toMatchObject({ code: 'ERR_SPANLINE_GRAPH_TRANSPORT', cause: 'EFBIG' });
    expect(readdirSync(folder)).toEqual([]);
  });

  test('whose writer is killed is not there, and an old one is as it was', async () => {
    const folder = newFolder();
    const path = join(folder, 'file');
    for (const old of [undefined, 'old']) {
      if (old !== undefined) writeFileSync(path, old);
      const result = await runFile(child, { args: [path, 'x', '1', 'endless'], signalWhenReady: 'SIGKILL' });
      expect(result.signal).toBe('SIGKILL');
      if (old === undefined) expect(readdirSync(folder)).not.toContain('file');
      else expect(readFileSync(path, 'utf8')).toBe(old);
    }
  });

  test('of several writers is always one of theirs, whole', async () => {
    const folder = newFolder();
    const path = join(folder, 'file');
    const LENGTH = 300_000;
    const writers = ['a', 'b', 'c'].map(
      (letter) =>
        new Promise<number | null>((resolve) => {
          spawn(process.execPath, [child, path, letter, '15', String(LENGTH)], { stdio: 'ignore' }).on(
            'close',
            resolve,
          );
        }),
    );
    let isOver = false;
    const over = Promise.all(writers).finally(() => {
      isOver = true;
    });
    let seen = 0;
    // At least once, should this thread have slept until all was over.
    while (!isOver || seen === 0) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (!readdirSync(folder).includes('file')) continue;
      const bytes = readFileSync(path);
      expect(bytes.length).toBe(LENGTH);
      expect(bytes.equals(Buffer.alloc(LENGTH, bytes[0]))).toBe(true);
      seen++;
    }
    expect(await over).toEqual([0, 0, 0]);
    expect(readdirSync(folder)).toEqual(['file']);
  });
});
