// Writes a write-ahead file: batches of spans, appended at once and kept for sure after a sync. A batch that could not be written whole must
// leave no trace, and a file that is no longer there, or whose sync failed, must not be trusted again.
import {
  close,
  closeSync,
  fstatSync,
  fsync,
  ftruncateSync,
  futimesSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { TransportError } from '@spanline/graph';
import { attempt, ByteWriter, runAsync, syncDirectory, timers } from 'spanline/internal/base';
import type { ArchivedSpan, FinishedSpan } from 'spanline/internal/record';
import { isInvalid } from '../check-span.js';
import type { BatchFacts } from './batch-facts.js';
import { beginFrame, endFrame, WAL_MAGIC } from './wal-frames.js';
import { SpanEncoder } from './write-spans.js';

/** A frame ends when it has so many bytes. */
const FRAME_BYTES = 1024 * 1024;

const failed = (path: string, what: string, cause: unknown): TransportError =>
  new TransportError(`${path} cannot be ${what}: ${(cause as Error).message}`, { cause });

const syncDescriptor = promisify(fsync);

/** Encodes one batch at a time: shared, for it is used at once. */
const frame = new ByteWriter(2 * FRAME_BYTES);

const begin = (): SpanEncoder => {
  beginFrame(frame);
  return new SpanEncoder(frame);
};

const finish = ({ facts }: SpanEncoder, spans: number): WalFrame => ({
  bytes: Buffer.from(endFrame(frame)),
  spans,
  facts: facts.done(),
});

/** A frame as it stands in the file. */
export interface WalFrame {
  readonly bytes: Buffer;
  readonly spans: number;
  readonly facts: BatchFacts;
}

/** What became of finished spans. */
export interface Written {
  /** Number of the first span that was not looked at. */
  readonly next: number;
  readonly taken: number;
  /** Why a span was left out, if one was: it is the last one looked at. */
  readonly invalid?: Error;
}

/** Appends batches to a new file. */
export class WalWriter {
  readonly #descriptor: number;
  readonly #inode: number;
  #synced = 0;
  #syncing: Promise<void> | undefined;
  #isBroken = false;
  #isClosed = false;
  /** Bytes in the file. */
  bytes = WAL_MAGIC.length;
  /** What the file holds; kept, for a file can be taken away. */
  readonly frames: WalFrame[] = [];
  spans = 0;

  constructor(readonly path: string) {
    let descriptor: number | undefined;
    try {
      descriptor = openSync(path, 'wx');
      writeSync(descriptor, WAL_MAGIC);
      this.#inode = fstatSync(descriptor).ino;
      this.#descriptor = descriptor;
    } catch (cause) {
      if (descriptor !== undefined) {
        closeSync(descriptor);
        // On a full disk a file can be made and not be written: each attempt would leave one.
        rmSync(path, { force: true });
      }
      throw failed(path, 'made', cause);
    }
  }

  /** Append spans: all, or none when it throws. They are kept for sure only after `sync`. */
  append(spans: readonly ArchivedSpan[]): void {
    const frames: WalFrame[] = [];
    let end = this.bytes;
    try {
      let encoder = begin();
      let count = 0;
      for (const [i, span] of spans.entries()) {
        encoder.add(span);
        count++;
        if (frame.length < FRAME_BYTES && i < spans.length - 1) continue;
        const written = finish(encoder, count);
        this.#write(written.bytes, end);
        frames.push(written);
        end += written.bytes.length;
        encoder = begin();
        count = 0;
      }
    } catch (error) {
      if (end > this.bytes) this.#cut();
      throw error;
    }
    for (const one of frames) this.#take(one);
  }

  /**
   * Append finished spans, number `from` and those behind it, as one frame: until it is full, `isOver`, or one cannot be kept. Throws when
   * the frame could not be written; none is taken then.
   */
  appendFinished(spanAt: (index: number) => FinishedSpan, from: number, to: number, isOver: () => boolean): Written {
    const encoder = begin();
    let taken = 0;
    let invalid: Error | undefined;
    for (let i = from; i < to && frame.length < FRAME_BYTES; i++) {
      const before = frame.length;
      try {
        encoder.addFinished(spanAt(i));
        taken++;
      } catch (error) {
        if (!isInvalid(error)) throw error;
        frame.length = before;
        invalid = error;
        break;
      }
      if (isOver()) break;
    }
    if (taken > 0) {
      const written = finish(encoder, taken);
      this.#write(written.bytes, this.bytes);
      this.#take(written);
    }
    return { next: from + taken + (invalid === undefined ? 0 : 1), taken, ...(invalid && { invalid }) };
  }

  /** Append what another file holds: all, or none when it throws. */
  copy(other: WalWriter): void {
    for (const one of other.frames) {
      this.#write(one.bytes, this.bytes);
      this.#take(one);
    }
  }

  /** Whether the file is another's, or gone, or a sync failed: then all of it must be written again elsewhere. */
  get isLost(): boolean {
    return this.#isBroken || attempt(() => statSync(this.path))?.ino !== this.#inode;
  }

  /** Resolves when the disk has everything appended before. */
  async sync(): Promise<void> {
    const wanted = this.bytes;
    while (this.#synced < wanted && !this.#isClosed) {
      this.#syncing ??= this.#syncOnce();
      await this.#syncing;
    }
  }

  /** Show other processes that this one lives. */
  touch(): void {
    const now = timers.wallMs() / 1000;
    // Where it fails its age is that of its last bytes.
    attempt(() => futimesSync(this.#descriptor, now, now));
  }

  /** Release the file; what it holds is safe elsewhere. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const release = (): void => close(this.#descriptor, () => {});
    // Its number must not become another file's while it is being synced.
    if (this.#syncing === undefined) release();
    else this.#syncing.then(release, release);
  }

  #take(one: WalFrame): void {
    this.frames.push(one);
    this.bytes += one.bytes.length;
    this.spans += one.spans;
  }

  #write(bytes: Buffer, at: number): void {
    try {
      for (let done = 0; done < bytes.length; )
        done += writeSync(this.#descriptor, bytes, done, bytes.length - done, at + done);
    } catch (cause) {
      this.#cut();
      throw failed(this.path, 'written', cause);
    }
  }

  /** Take back what is behind the last whole batch; if that fails readers stop there all the same, and the next one overwrites it. */
  #cut(): void {
    attempt(() => ftruncateSync(this.#descriptor, this.bytes));
  }

  async #syncOnce(): Promise<void> {
    const { bytes } = this;
    try {
      await syncDescriptor(this.#descriptor);
      // A file whose name is lost is lost.
      if (this.#synced === 0) await runAsync(syncDirectory(dirname(this.path)));
      this.#synced = bytes;
    } catch (cause) {
      // A second sync would succeed without the bytes that the first one lost.
      this.#isBroken = true;
      throw failed(this.path, 'synced', cause);
    } finally {
      this.#syncing = undefined;
    }
  }
}
