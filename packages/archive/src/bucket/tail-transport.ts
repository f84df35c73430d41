// The end of an object, read in one request when it is opened: what lies there costs no further one. It must give the bytes that the object has, and
// keep no more of them than its bound.

import type { Transport } from '@spanline/graph';

type ByteRanges = Parameters<Transport['readRanges']>[0];
type ReadOptions = Parameters<Transport['readRanges']>[1];
type Tail = Awaited<ReturnType<Transport['readTail']>>;

export class TailTransport implements Transport {
  readonly #inner: Transport;
  readonly #tailBytes: number;
  #tail: Tail | undefined;

  constructor(inner: Transport, tailBytes: number) {
    this.#inner = inner;
    this.#tailBytes = tailBytes;
  }

  get name(): string {
    return this.#inner.name;
  }

  async readTail(length: number, options?: ReadOptions): Promise<Tail> {
    this.#tail ??= await this.#inner.readTail(Math.max(length, this.#tailBytes), options);
    const { bytes, offset, size } = this.#tail;
    if (bytes.length < Math.min(length, size)) return this.#inner.readTail(length, options);
    const cut = Math.max(0, bytes.length - length);
    return { bytes: bytes.subarray(cut), offset: offset + cut, size };
  }

  async readRanges(ranges: ByteRanges, options?: ReadOptions): Promise<Buffer[]> {
    const tail = this.#tail;
    const isHere = ({ offset, length }: ByteRanges[number]): boolean =>
      tail !== undefined && offset >= tail.offset && offset + length <= tail.size;
    const missing = ranges.filter((range) => !isHere(range));
    const read = missing.length === 0 ? [] : await this.#inner.readRanges(missing, options);
    let next = 0;
    return ranges.map((range) => {
      if (!isHere(range)) return read[next++];
      const at = range.offset - (tail as Tail).offset;
      return (tail as Tail).bytes.subarray(at, at + range.length);
    });
  }

  stats(): ReturnType<Transport['stats']> {
    return this.#inner.stats();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
