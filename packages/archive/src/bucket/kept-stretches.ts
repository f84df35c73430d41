// Bytes of objects that never change, as they were read last, those used longest ago dropped first: what lies between ranges comes with them, and the next
// question is often about that. Bytes of one version of an object must never be given as those of another.
import { getOrMake } from 'spanline/internal/base';

/** Bytes of one object that lie together. */
interface Stretch {
  readonly object: string;
  readonly offset: number;
  readonly bytes: Buffer;
}

/** What a stretch takes in memory beside its bytes, about. */
export const STRETCH_BYTES = 512;
/** One stretch has such a part of all bytes at most. */
const MAX_SHARE = 4;

/** Bytes that keep no others in memory. */
const alone = (bytes: Buffer): Buffer => {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
};

export class KeptStretches {
  readonly #maxBytes: number;
  /** Of each object. */
  readonly #byObject = new Map<string, Set<Stretch>>();
  /** The one used longest ago first. */
  readonly #byUse = new Set<Stretch>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes of an object, which is named with its version, as a view; undefined unless all of them are here. */
  find(object: string, offset: number, length: number): Buffer | undefined {
    for (const stretch of this.#byObject.get(object) ?? []) {
      const start = offset - stretch.offset;
      if (start < 0 || start + length > stretch.bytes.length) continue;
      this.#byUse.delete(stretch);
      this.#byUse.add(stretch);
      return stretch.bytes.subarray(start, start + length);
    }
    return undefined;
  }

  put(object: string, offset: number, bytes: Buffer): void {
    if (bytes.length > this.#maxBytes / MAX_SHARE) return;
    for (const other of this.#byObject.get(object) ?? [])
      if (other.offset >= offset && other.offset + other.bytes.length <= offset + bytes.length) this.#drop(other);
    const stretch = { object, offset, bytes: alone(bytes) };
    getOrMake(this.#byObject, object, () => new Set<Stretch>()).add(stretch);
    this.#byUse.add(stretch);
    this.#bytes += STRETCH_BYTES + bytes.length;
    for (const oldest of this.#byUse) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#drop(oldest);
    }
  }

  /** Drop whatever has one of these bytes: they were damaged on their way, or where they lay. */
  forget(object: string, offset: number, length: number): void {
    for (const stretch of this.#byObject.get(object) ?? [])
      if (stretch.offset < offset + length && offset < stretch.offset + stretch.bytes.length) this.#drop(stretch);
  }

  #drop(stretch: Stretch): void {
    const own = this.#byObject.get(stretch.object);
    own?.delete(stretch);
    if (own?.size === 0) this.#byObject.delete(stretch.object);
    this.#byUse.delete(stretch);
    this.#bytes -= STRETCH_BYTES + stretch.bytes.length;
  }
}
