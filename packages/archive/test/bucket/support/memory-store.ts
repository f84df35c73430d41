// An object store in memory, with a clock of its own and failures as they are asked for. It must answer conditions as a store does.

import { createHash } from 'node:crypto';
import { BufferTransport, NotFoundError, type Transport } from '@spanline/graph';
import { bucketError } from '../../../src/bucket/bucket-error.js';
import type { ListedObject, ObjectStore, StoreCall, StoreStats } from '../../../src/bucket/object-store.js';

const etagOf = (bytes: Uint8Array): string => `"${createHash('md5').update(bytes).digest('hex')}"`;

/** What a call does before it is answered; may throw. */
export type Interference = (call: 'get' | 'put' | 'delete' | 'list', key: string) => void | Promise<void>;

export class MemoryStore implements ObjectStore {
  readonly name = 's3://memory/archive';
  readonly objects = new Map<string, Buffer>();
  /** When they were put. */
  readonly #putMs = new Map<string, number>();
  /** Unix milliseconds. */
  now = Date.parse('2026-11-27T10:30:00Z');
  before: Interference = () => {};
  /** After it was done: what throws here is a lost answer. */
  after: Interference = () => {};
  /** Lists show what there was at this moment, if it is set. */
  stale: ReadonlyMap<string, Buffer> | undefined;
  #stats = { requests: 0, bytesRead: 0, bytesWritten: 0, retries: 0 };

  async get(key: string, { ifNoneMatch }: StoreCall & { readonly ifNoneMatch?: string | undefined } = {}) {
    await this.#ask('get', key);
    const bytes = this.objects.get(key);
    if (bytes === undefined) return undefined;
    const etag = etagOf(bytes);
    return etag === ifNoneMatch ? 'unchanged' : { bytes, etag };
  }

  async put(key: string, bytes: Uint8Array, options: Parameters<ObjectStore['put']>[2] = {}) {
    await this.#ask('put', key);
    const there = this.objects.get(key);
    const fails =
      (options.ifAbsent === true && there !== undefined) ||
      (options.ifMatch !== undefined && (there === undefined || etagOf(there) !== options.ifMatch));
    if (!fails) {
      this.objects.set(key, Buffer.from(bytes));
      this.#putMs.set(key, this.now);
    }
    await this.after('put', key);
    return fails ? undefined : { etag: etagOf(bytes) };
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      await this.#ask('delete', key);
      this.objects.delete(key);
    }
  }

  async *list(
    prefix: string,
    { startAfter = '' }: StoreCall & { readonly startAfter?: string | undefined } = {},
  ): AsyncGenerator<readonly ListedObject[], undefined, void> {
    await this.#ask('list', prefix);
    const objects = this.stale ?? this.objects;
    yield [...objects]
      .filter(([key]) => key.startsWith(prefix) && key > startAfter)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, bytes]) => ({
        key,
        size: bytes.length,
        etag: etagOf(bytes),
        lastModifiedMs: this.#putMs.get(key) ?? this.now,
      }));
  }

  transport(key: string): Transport {
    const bytes = this.objects.get(key);
    if (bytes !== undefined) return new BufferTransport(bytes, { name: `${this.name}/${key}` });
    const gone = async (): Promise<never> => {
      throw new NotFoundError(`${this.name}/${key} is not there`);
    };
    const stats = () => ({ requests: 0, ranges: 0, bytes: 0 });
    return { name: key, readRanges: gone, readTail: gone, stats, close: async () => {} };
  }

  clockMs(): number {
    return this.now;
  }

  stats(): StoreStats {
    return { ...this.#stats };
  }

  close(): void {}

  async #ask(call: Parameters<Interference>[0], key: string): Promise<void> {
    this.#stats.requests++;
    await this.before(call, key);
  }
}

/** What a store that cannot be reached does. */
export const unreachable = (): never => {
  throw bucketError('UNAVAILABLE', 's3://memory/archive does not answer');
};
