// Where a graph file is written: memory, or a file that appears whole or not at all. A sink must leave nothing behind when it is
// aborted.

import { type FsSteps, runSync, WholeFile } from 'spanline/internal/base';
import { ClosedError, TransportError } from './graph-error.js';

/** Takes bytes one after the other. */
export interface ByteSink {
  /** Bytes written so far. */
  readonly position: number;
  write(bytes: Uint8Array): void;
  /** Everything is written: make it visible, durably. */
  finish(): void;
  /** Forget everything; harmless after `finish`. */
  abort(): void;
}

/**
 * Keeps the file in memory: for small files, tests, and what is sent elsewhere.
 *
 * @example
 * ```ts
 * import { BufferSink, CompactGraphBuilder } from '@spanline/graph';
 * const sink = new BufferSink();
 * await new CompactGraphBuilder(sink, { graphs: [{ referenceLists: 0, order: 'child-first' }] }).finish();
 * console.assert(sink.toBuffer().length === sink.position);
 * ```
 */
export class BufferSink implements ByteSink {
  #chunks: Uint8Array[] = [];
  #isFinished = false;
  position = 0;

  write(bytes: Uint8Array): void {
    if (this.#isFinished) throw new ClosedError('the buffer is finished already');
    // Writers reuse their buffers.
    this.#chunks.push(Uint8Array.from(bytes));
    this.position += bytes.length;
  }

  finish(): void {
    this.#isFinished = true;
  }

  abort(): void {
    if (this.#isFinished) return;
    this.#chunks = [];
    this.position = 0;
  }

  /** The whole file. */
  toBuffer(): Buffer {
    const whole = Buffer.concat(this.#chunks);
    this.#chunks = [whole];
    return whole;
  }
}

const BUFFER_BYTES = 1024 * 1024;

const failed = (path: string, cause: unknown): TransportError =>
  new TransportError(`${path} cannot be written: ${(cause as Error).message}; nothing of it was left behind`, {
    cause,
  });

/**
 * Writes beside `path` under a temporary name, and renames at the end: readers see the old file or the whole new one.
 *
 * Builders that are given a path make one of their own. Throws `TransportError` when the disk refuses, and has left nothing behind then.
 *
 * @example
 * ```ts
 * import { existsSync, mkdtempSync } from 'node:fs';
 * import { tmpdir } from 'node:os';
 * import { join } from 'node:path';
 * import { AtomicFileSink } from '@spanline/graph';
 * const path = join(mkdtempSync(join(tmpdir(), 'graph-')), 'file');
 * const sink = new AtomicFileSink(path);
 * sink.write(Buffer.from('bytes'));
 * console.assert(!existsSync(path));
 * sink.finish();
 * console.assert(existsSync(path));
 * ```
 */
export class AtomicFileSink implements ByteSink {
  position = 0;
  readonly #file: WholeFile;
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #buffered = 0;

  constructor(readonly path: string) {
    this.#file = this.#run(WholeFile.open(path));
  }

  write(bytes: Uint8Array): void {
    this.#requireOpen();
    if (this.#buffered + bytes.length > BUFFER_BYTES) this.#flush();
    if (bytes.length > BUFFER_BYTES) this.#run(this.#file.write(bytes));
    else {
      this.#buffer.set(bytes, this.#buffered);
      this.#buffered += bytes.length;
    }
    this.position += bytes.length;
  }

  finish(): void {
    this.#requireOpen();
    this.#flush();
    this.#run(this.#file.finish());
  }

  abort(): void {
    runSync(this.#file.abort());
  }

  #requireOpen(): void {
    if (!this.#file.isOpen) throw new ClosedError(`${this.path} is finished or aborted already`);
  }

  #flush(): void {
    this.#run(this.#file.write(this.#buffer.subarray(0, this.#buffered)));
    this.#buffered = 0;
  }

  #run<T>(steps: FsSteps<T>): T {
    try {
      return runSync(steps);
    } catch (cause) {
      throw failed(this.path, cause);
    }
  }
}
