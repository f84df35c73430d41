// The JSON documents of a file or of standard input, one after another: those of one line each, or a single one over many lines. Compressed
// with gzip or not. Holds one document at a time.
import { tooLarge } from 'spanline/internal/formats';
import { bytesOf } from '../files.js';

/** Bytes of one document; a longer one could not become a string. */
const MAX_DOCUMENT_BYTES = 400 * 1024 * 1024;

const LINE_BREAK = 0x0a;
const END_OF_LINE = Buffer.from('\n');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_MAP = 0x7b;
const CLOSE_MAP = 0x7d;

/** A document, and where it stands. */
export interface FoundDocument {
  readonly bytes: Buffer;
  /** From 1; 0 when the whole file is one document. */
  readonly line: number;
}

/** Whether all that was opened in the line is closed in it. */
const isWhole = (line: Buffer): boolean => {
  let depth = 0;
  for (let at = 0; at < line.length; at++) {
    const byte = line[at];
    if (byte === QUOTE) {
      for (at++; at < line.length && line[at] !== QUOTE; at++) if (line[at] === BACKSLASH) at++;
    } else if (byte === OPEN_MAP || byte === OPEN_LIST) depth++;
    else if (byte === CLOSE_MAP || byte === CLOSE_LIST) depth--;
  }
  return depth === 0;
};

const isBlank = (line: Buffer): boolean => line.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09);

/** The lines of bytes that were taken for one document. */
export const linesOf = function* (bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; ) {
    const at = bytes.indexOf(LINE_BREAK, from);
    const line = bytes.subarray(from, at < 0 ? bytes.length : at);
    if (!isBlank(line)) yield line;
    from += line.length + 1;
  }
};

/** What is not handed out yet. */
class Pending {
  #chunks: Buffer[] = [];
  #length = 0;

  add(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#length += chunk.length;
    if (this.#length > MAX_DOCUMENT_BYTES)
      throw tooLarge(`a document of more than ${MAX_DOCUMENT_BYTES} bytes: write traces as OTLP, one a line`);
    this.#chunks.push(chunk);
  }

  take(): Buffer {
    const all = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#length = 0;
    return all;
  }
}

/** The documents of `file`; `-` is standard input. */
export const readDocuments = async function* (file: string, signal: AbortSignal): AsyncGenerator<FoundDocument> {
  const pending = new Pending();
  let line = 0;
  let isOneDocument = false;
  let isFirst = true;
  for await (const chunk of bytesOf(file, signal)) {
    let from = 0;
    for (let at = chunk.indexOf(LINE_BREAK); at >= 0 && !isOneDocument; at = chunk.indexOf(LINE_BREAK, from)) {
      pending.add(chunk.subarray(from, at));
      from = at + 1;
      const bytes = pending.take();
      line++;
      if (isBlank(bytes)) continue;
      // The first one tells: an open line goes on in the next.
      if (isFirst && !isWhole(bytes)) {
        isOneDocument = true;
        pending.add(bytes);
        pending.add(END_OF_LINE);
      } else yield { bytes, line };
      isFirst = false;
    }
    pending.add(chunk.subarray(from));
  }
  const bytes = pending.take();
  if (!isBlank(bytes)) yield { bytes, line: isOneDocument || line === 0 ? 0 : line + 1 };
};
