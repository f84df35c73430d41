// The one temporary file of a builder: everything that does not fit into memory is appended to it and read back by position. It must
// never outlive its builder: where the system allows it, it loses its name as soon as it is open, so that even a killed process leaves
// nothing; elsewhere its name says whose it was.
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readSync, rmSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { ByteWriter, orThrow } from 'spanline/internal/base';
import { TransportError } from '../container/graph-error.js';

/** What the names of temporary files begin with; the number of the process and random digits follow. */
const SPILL_PREFIX = '.spanline-graph-';

/** Bytes of a buffer at least: a key with its marks always fits. */
export const MIN_BUFFER_BYTES = 8 * 1024;

/** A stretch of the file. */
export interface Region {
  readonly start: number;
  readonly end: number;
}

/** A file that grows at its end and is read anywhere. */
export class SpillFile {
  /** Where the next region begins; bytes handed out, not all of them written. */
  size = 0;
  readonly #path: string;
  readonly #descriptor: number;
  #isNamed = true;
  #isClosed = false;

  constructor(directory: string) {
    this.#path = join(directory, `${SPILL_PREFIX}${process.pid}-${randomBytes(6).toString('hex')}.tmp`);
    this.#descriptor = this.#attempt(() => openSync(this.#path, 'wx+', 0o600));
    try {
      unlinkSync(this.#path);
      this.#isNamed = false;
    } catch {
      // Some systems keep the name of an open file; `close` removes it.
    }
  }

  /** Room for `bytes` at the end. */
  reserve(bytes: number): Region {
    const start = this.size;
    this.size += bytes;
    return { start, end: this.size };
  }

  write(bytes: Uint8Array, position: number): void {
    this.#attempt(() => {
      for (let at = 0; at < bytes.length; )
        at += writeSync(this.#descriptor, bytes, at, bytes.length - at, position + at);
    });
  }

  /** Fill `into` from `position`. */
  read(into: Uint8Array, position: number): void {
    this.#attempt(() => {
      for (let at = 0; at < into.length; ) {
        const count = readSync(this.#descriptor, into, at, into.length - at, position + at);
        if (count === 0) throw new Error('it ends too early: something else has cut it');
        at += count;
      }
    });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#descriptor);
    if (this.#isNamed) rmSync(this.#path, { force: true });
  }

  #attempt<T>(action: () => T): T {
    return orThrow(action, (cause) => {
      const what = `the temporary file ${this.#path} failed: ${cause.message}`;
      return new TransportError(`${what}; give a tempDir with room, or more memoryBytes`, { cause });
    });
  }
}

/** Appends to the end of a spill file through a buffer; the only writer of the file's end while it lives. */
export class SpillWriter {
  readonly #file: SpillFile;
  readonly #bufferBytes: number;
  readonly #isReserved: boolean;
  readonly #buffer: ByteWriter;
  #position: number;
  readonly #first: number;

  /** @param region Where to write, when the room was reserved; left out: at the end. */
  constructor(file: SpillFile, bufferBytes: number, region?: Region) {
    this.#file = file;
    this.#bufferBytes = bufferBytes;
    this.#isReserved = region !== undefined;
    this.#buffer = new ByteWriter(bufferBytes);
    this.#first = region?.start ?? file.size;
    this.#position = this.#first;
  }

  varint(value: number): void {
    this.#need(8);
    this.#buffer.varint(value);
  }

  byte(value: number): void {
    this.#need(1);
    this.#buffer.byte(value);
  }

  uint32(value: number): void {
    this.#need(4);
    this.#buffer.uint32(value);
  }

  raw(bytes: Uint8Array): void {
    this.#need(bytes.length);
    if (bytes.length > this.#bufferBytes) this.#put(bytes);
    else this.#buffer.raw(bytes);
  }

  /** Write what is buffered; the answer is all that was written. */
  finish(): Region {
    this.#flush();
    return { start: this.#first, end: this.#position };
  }

  #need(bytes: number): void {
    if (this.#buffer.length + bytes > this.#bufferBytes) this.#flush();
  }

  #flush(): void {
    this.#put(this.#buffer.view());
    this.#buffer.clear();
  }

  #put(bytes: Uint8Array): void {
    if (!this.#isReserved) this.#file.reserve(bytes.length);
    this.#file.write(bytes, this.#position);
    this.#position += bytes.length;
  }
}

/** Reads a region from its start to its end through a buffer. */
export class SpillReader {
  readonly #file: SpillFile;
  readonly #region: Region;
  #buffer: Buffer;
  #at = 0;
  #filled = 0;
  #position: number;

  constructor(file: SpillFile, region: Region, bufferBytes: number) {
    this.#file = file;
    this.#region = region;
    this.#buffer = Buffer.allocUnsafeSlow(bufferBytes);
    this.#position = region.start;
  }

  varint(): number {
    if (this.#filled - this.#at < 8) this.#fill(8);
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.#buffer[this.#at++];
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
  }

  uint32(): number {
    if (this.#filled - this.#at < 4) this.#fill(4);
    this.#at += 4;
    return this.#buffer.readUInt32LE(this.#at - 4);
  }

  /** The next bytes as a view: valid until the next call. */
  raw(length: number): Buffer {
    if (this.#filled - this.#at < length) this.#fill(length);
    this.#at += length;
    return this.#buffer.subarray(this.#at - length, this.#at);
  }

  /** Copy the next bytes, all of `into`, which is short. */
  copy(into: Uint8Array): void {
    const { length } = into;
    if (this.#filled - this.#at < length) this.#fill(length);
    const buffer = this.#buffer;
    for (let i = 0, from = this.#at; i < length; i++, from++) into[i] = buffer[from];
    this.#at += length;
  }

  skip(length: number): void {
    const buffered = Math.min(length, this.#filled - this.#at);
    this.#at += buffered;
    this.#position += length - buffered;
  }

  /** Have `wanted` bytes in the buffer, or all that are left. */
  #fill(wanted: number): void {
    const kept = this.#filled - this.#at;
    if (wanted > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(wanted);
      this.#buffer.copy(larger, 0, this.#at, this.#filled);
      this.#buffer = larger;
    } else this.#buffer.copy(this.#buffer, 0, this.#at, this.#filled);
    const more = Math.min(this.#buffer.length - kept, this.#region.end - this.#position);
    this.#file.read(this.#buffer.subarray(kept, kept + more), this.#position);
    this.#at = 0;
    this.#filled = kept + more;
    this.#position += more;
  }
}
