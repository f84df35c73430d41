// A growing buffer that encoders write into and use again. Nothing here knows a format. Memory is bounded: beyond its
// limit a write throws RequestFull, and the encoder goes back to the last whole span.

/** Thrown when a write would pass the limit. One object without a stack: it is control flow, once in some megabytes. */
export const REQUEST_FULL = Object.freeze(new RangeError('the request is full'));

const FIRST_BYTES = 64 << 10;
/** Up to this length a loop over characters beats the call into native code. */
const LOOP_CHARACTERS = 40;
/** From this length on the exact size is worth a pass: reserving three bytes a character would waste too much. */
const MEASURED_CHARACTERS = 1024;

/** Buffers kept for the next request. To allocate megabytes anew each time makes the garbage collector stop the program. */
const SPARE_BUFFERS = 2;

export class ByteWriter {
  bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  view = new DataView(this.bytes.buffer);
  readonly #spare: Buffer<ArrayBuffer>[] = [];
  /** Where the next byte goes. */
  at = 0;

  constructor(readonly limit: number) {}

  /** Make room for `count` bytes more. */
  ensure(count: number): void {
    if (this.at + count > this.bytes.length) this.#grow(this.at + count);
  }

  /** A copy of a stretch, which may be kept while this buffer is written again. */
  copy(start: number, end: number): Buffer {
    const out = Buffer.allocUnsafeSlow(end - start);
    this.bytes.copy(out, 0, start, end);
    return out;
  }

  /** Text as UTF-8, its length not included; the room must have been made by {@link ByteWriter.ensureText}. */
  text(value: string): void {
    const { length } = value;
    if (length > LOOP_CHARACTERS) {
      this.at += this.bytes.write(value, this.at, 'utf8');
      return;
    }
    const { bytes } = this;
    let { at } = this;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code > 0x7f) {
        // From the start again: a pair of surrogates must not be cut.
        this.at += bytes.write(value, this.at, 'utf8');
        return;
      }
      bytes[at++] = code;
    }
    this.at = at;
  }

  /** Make room for text and `extra` bytes. */
  ensureText(value: string, extra: number): void {
    const { length } = value;
    this.ensure((length < MEASURED_CHARACTERS ? length * 3 : Buffer.byteLength(value, 'utf8')) + extra);
  }

  /** Hands out a stretch without a copy and goes on in another buffer. It is the caller's until {@link ByteWriter.giveBack}. */
  lend(start: number, end: number): Buffer<ArrayBuffer> {
    const lent = this.bytes.subarray(start, end);
    this.#use(this.#spare.pop() ?? Buffer.allocUnsafeSlow(FIRST_BYTES));
    return lent;
  }

  /** What was lent is not needed any more. Optional: what does not come back is garbage. */
  giveBack({ buffer }: Buffer<ArrayBuffer>): void {
    if (this.#spare.length < SPARE_BUFFERS) this.#spare.push(Buffer.from(buffer));
  }

  /** Let the spare buffers go. */
  trim(): void {
    this.#spare.length = 0;
  }

  #use(bytes: Buffer<ArrayBuffer>): void {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer);
  }

  #grow(needed: number): void {
    if (needed > this.limit) throw REQUEST_FULL;
    const bytes = Buffer.allocUnsafeSlow(Math.min(Math.max(needed, this.bytes.length * 2), this.limit));
    this.bytes.copy(bytes, 0, 0, this.at);
    this.#use(bytes);
  }
}
