// A file that vanishes, shrinks, grows or is not a file gives an error that says so; one that was replaced stays what it was.
import { execFileSync } from 'node:child_process';
import { appendFileSync, readdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  AbortedError,
  BadOptionsError,
  ChangedError,
  ClosedError,
  NotFoundError,
  TransportError,
  TruncatedError,
} from '../../../src/container/graph-error.js';
import { FileTransport, type FileTransportOptions } from '../../../src/container/transport/file-transport.js';
import { failureOf, thrownBy } from '../support/errors.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const directory = temporaryDirectory();
let files = 0;
const newFile = (length: number): string => {
  const path = join(directory, `f${files++}`);
  writeFileSync(path, Buffer.alloc(length, 7));
  return path;
};

/** Both ways of opening end the same. */
const failuresOf = async (path: string, options?: FileTransportOptions) => {
  const later = await failureOf(FileTransport.open(path, options));
  const atOnce = thrownBy(() => FileTransport.openSync(path, options));
  expect(atOnce.constructor).toBe(later.constructor);
  return later;
};

describe('opening', () => {
  test('names a file that is not there', async () => {
    const failure = await failuresOf(join(directory, 'none'));
    expect(failure).toBeInstanceOf(NotFoundError);
    expect(failure.message).toContain(join(directory, 'none'));
    expect(await failuresOf(join(newFile(1), 'below'))).toBeInstanceOf(NotFoundError);
  });

  test('refuses directories, and pipes without waiting for a writer', async () => {
    expect(await failuresOf(directory)).toBeInstanceOf(BadOptionsError);
    const pipe = join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(await failuresOf(pipe)).toBeInstanceOf(BadOptionsError);
  });

  test('reports what the system says of a path it cannot follow', async () => {
    const loop = join(directory, 'loop');
    symlinkSync(loop, loop);
    expect(await failuresOf(loop)).toBeInstanceOf(TransportError);
    expect((await failuresOf(loop)).cause).toMatchObject({ code: 'ELOOP' });
  });

  test('refuses a stretch that the file does not have', async () => {
    const path = newFile(100);
    expect(await failuresOf(path, { offset: 101 })).toBeInstanceOf(TruncatedError);
    expect(await failuresOf(path, { offset: 50, length: 51 })).toBeInstanceOf(TruncatedError);
    expect(await failuresOf(path, { offset: -1 })).toBeInstanceOf(BadOptionsError);
    expect(await failuresOf(path, { length: 0.5 })).toBeInstanceOf(BadOptionsError);
    expect(await failuresOf(path, { gapBytes: -1 })).toBeInstanceOf(BadOptionsError);
  });

  test.runIf(process.platform === 'linux')('leaves no descriptor behind when it fails', async () => {
    const path = newFile(100);
    const before = readdirSync('/proc/self/fd').length;
    for (let i = 0; i < 20; i++) await failuresOf(path, { offset: 101 });
    expect(readdirSync('/proc/self/fd').length).toBeLessThan(before + 10);
  });
});

describe('a file that changes', () => {
  test('gives TruncatedError when it was cut', async () => {
    const path = newFile(1_000);
    const transport = await FileTransport.open(path);
    truncateSync(path, 600);
    for (const failure of [
      await failureOf(transport.readRanges([{ offset: 500, length: 200 }])),
      thrownBy(() => transport.readRangesSync([{ offset: 500, length: 200 }])),
      await failureOf(transport.readTail(500)),
      thrownBy(() => transport.readTailSync(500)),
    ]) {
      expect(failure).toBeInstanceOf(TruncatedError);
      expect(failure).toMatchObject({ actual: 600 });
    }
    await transport.close();
  });

  test('gives ChangedError when it has another size, though the bytes asked for are there', async () => {
    for (const change of [(path: string) => truncateSync(path, 600), (path: string) => appendFileSync(path, 'more')]) {
      const path = newFile(1_000);
      const transport = await FileTransport.open(path);
      change(path);
      expect(await failureOf(transport.readRanges([{ offset: 0, length: 10 }]))).toBeInstanceOf(ChangedError);
      expect(thrownBy(() => transport.readRangesSync([{ offset: 0, length: 10 }]))).toBeInstanceOf(ChangedError);
      await transport.close();
    }
  });

  test('may grow behind the stretch that is read, and shrink down to its end', async () => {
    const path = newFile(1_000);
    const transport = await FileTransport.open(path, { offset: 100, length: 300 });
    appendFileSync(path, 'more');
    expect((await transport.readTail(10)).bytes).toEqual(Buffer.alloc(10, 7));
    truncateSync(path, 400);
    expect((await transport.readTail(300)).bytes).toEqual(Buffer.alloc(300, 7));
    truncateSync(path, 399);
    expect(await failureOf(transport.readTail(300))).toBeInstanceOf(TruncatedError);
    await transport.close();
  });

  test('stays readable when its name is gone or is another file', async () => {
    const [gone, replaced, other] = [newFile(50), newFile(50), newFile(9)];
    const transports = [await FileTransport.open(gone), FileTransport.openSync(replaced)];
    rmSync(gone);
    renameSync(other, replaced);
    for (const transport of transports) {
      expect((await transport.readTail(50)).bytes).toEqual(Buffer.alloc(50, 7));
      await transport.close();
    }
  });
});

describe('a batch', () => {
  test('is aborted between its reads', async () => {
    const transport = await FileTransport.open(newFile(1_000), { gapBytes: 0 });
    const ranges = Array.from({ length: 100 }, (_, i) => ({ offset: i * 10, length: 5 }));
    const controller = new AbortController();
    const reading = transport.readRanges(ranges, { signal: controller.signal });
    controller.abort();
    expect(await failureOf(reading)).toBeInstanceOf(AbortedError);
    expect(transport.stats().requests).toBeLessThan(100);
    await transport.close();
  });

  test('is read to its end though the file is being closed', async () => {
    const transport = await FileTransport.open(newFile(1_000), { gapBytes: 0 });
    const ranges = Array.from({ length: 100 }, (_, i) => ({ offset: i * 10, length: 5 }));
    const reading = transport.readRanges(ranges);
    const closing = transport.close();
    expect(await failureOf(transport.readTail(1))).toBeInstanceOf(ClosedError);
    expect(Buffer.concat(await reading)).toEqual(Buffer.alloc(500, 7));
    await closing;
  });

  test('of an empty file is nothing', async () => {
    const transport = await FileTransport.open(newFile(0));
    expect(await transport.readTail(100)).toEqual({ bytes: Buffer.alloc(0), offset: 0, size: 0 });
    expect(await transport.readRanges([{ offset: 0, length: 0 }])).toEqual([Buffer.alloc(0)]);
    expect(transport.stats()).toEqual({ requests: 0, ranges: 2, bytes: 0 });
    await transport.close();
  });
});
