// Ranges of one object, read over the client of its store: neighbours together, several at a time, all of one version of the object. Bytes of two versions
// must never be mixed. It rejects with a `GraphError`, as all transports do.
import {
  ChangedError,
  ClosedError,
  type GraphError,
  NotFoundError,
  type Tail,
  type Transport,
  TransportError,
  type TransportReadOptions,
  type TransportStats,
} from '@spanline/graph';
import {
  checkRanges,
  checkSignal,
  dealOut,
  emptyResults,
  mergeRanges,
  parseContentRange,
} from '@spanline/graph/internal';
import { inParallel } from 'spanline/internal/base';
import { BucketError, type Deed } from './bucket-error.js';
import type { KeptStretches } from './kept-stretches.js';
import type { S3Client, StoreAnswer } from './s3-client.js';

/** A version of an object. */
export interface ObjectVersion {
  readonly size: number;
  readonly etag: string;
}

type ByteRange = Parameters<Transport['readRanges']>[0][number];

/** Ranges at most so many bytes apart share a request: it takes as long as they do to come. */
const GAP_BYTES = 64 * 1024;
const AT_A_TIME = 8;

/** An object as it is asked for. */
interface Asked {
  readonly url: string;
  /** For messages. */
  readonly name: string;
  readonly deed: Deed;
}

/** Where the bytes of an answer begin, and the size of the object, which every store tells. */
const rangeOf = ({ headers }: StoreAnswer): { readonly start: number; readonly size: number } | undefined => {
  const { start, size } = parseContentRange(headers['content-range'] ?? null) ?? {};
  return start === undefined || size === undefined ? undefined : { start, size };
};

export class ObjectTransport implements Transport {
  readonly name: string;
  readonly #client: S3Client;
  readonly #asked: Asked;
  readonly #kept: KeptStretches;
  readonly #counts = { requests: 0, ranges: 0, bytes: 0 };
  #version: ObjectVersion | undefined;
  #isClosed = false;

  constructor(client: S3Client, asked: Asked, known: ObjectVersion | undefined, kept: KeptStretches) {
    this.name = asked.name;
    this.#client = client;
    this.#asked = asked;
    this.#version = known;
    this.#kept = kept;
  }

  async readRanges(ranges: readonly ByteRange[], options?: TransportReadOptions): Promise<Buffer[]> {
    this.#checkOpen();
    checkSignal(this.name, options);
    checkRanges(ranges, this.#version?.size, this.name);
    this.#counts.ranges += ranges.length;
    const found = ranges.map(({ offset, length }) => this.#find(offset, length));
    const missing = ranges.filter((_, i) => found[i] === undefined);
    const read = emptyResults(missing);
    await inParallel(mergeRanges(missing, GAP_BYTES), AT_A_TIME, async (merged) => {
      const bytes = await this.#read(merged, options);
      if (this.#versionName !== undefined) this.#kept.put(this.#versionName, merged.offset, bytes);
      dealOut(missing, merged, bytes, read);
    });
    let next = 0;
    return found.map((bytes) => bytes ?? read[next++]);
  }

  async readTail(length: number, options?: TransportReadOptions): Promise<Tail> {
    this.#checkOpen();
    checkSignal(this.name, options);
    checkRanges([{ offset: 0, length }], undefined, this.name);
    this.#counts.ranges++;
    const known = this.#version;
    // Nor is there a range of an empty object: stores refuse any, each in its own way.
    if (known?.size === 0) return { bytes: Buffer.alloc(0), offset: 0, size: 0 };
    // HTTP has no tail of no bytes.
    const wanted = Math.max(1, length);
    const answer =
      known === undefined
        ? await this.#ask(`bytes=-${wanted}`, options)
        : await this.#ask(`bytes=${Math.max(0, known.size - wanted)}-${known.size - 1}`, options);
    const size = answer.status === 200 ? answer.bytes.length : rangeOf(answer)?.size;
    if (size === undefined) throw this.#otherBytes(answer);
    this.#checkSize(size);
    this.#version ??= { size, etag: answer.headers.etag ?? '' };
    const bytes = answer.bytes.subarray(Math.max(0, answer.bytes.length - length));
    if (bytes.length !== Math.min(length, size)) throw this.#otherBytes(answer);
    return { bytes, offset: size - bytes.length, size };
  }

  stats(): TransportStats {
    return { ...this.#counts };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  forget({ offset, length }: ByteRange): void {
    if (this.#versionName !== undefined) this.#kept.forget(this.#versionName, offset, length);
  }

  /** Names the object and its version; undefined where the store tells none. */
  get #versionName(): string | undefined {
    const { etag = '' } = this.#version ?? {};
    return etag === '' ? undefined : `${this.#asked.url} ${etag}`;
  }

  #find(offset: number, length: number): Buffer | undefined {
    return this.#versionName === undefined ? undefined : this.#kept.find(this.#versionName, offset, length);
  }

  async #read({ offset, length }: ByteRange, options: TransportReadOptions | undefined): Promise<Buffer> {
    const answer = await this.#ask(`bytes=${offset}-${offset + length - 1}`, options);
    const { status, headers, bytes } = answer;
    if (status === 200) {
      // All of the object, from a store that knows no ranges.
      this.#checkSize(bytes.length);
      checkRanges([{ offset, length }], bytes.length, this.name);
      return bytes.subarray(offset, offset + length);
    }
    const found = rangeOf(answer);
    if (found !== undefined) {
      this.#checkSize(found.size);
      checkRanges([{ offset, length }], found.size, this.name);
      this.#version ??= { size: found.size, etag: headers.etag ?? '' };
      this.#checkEtag(headers.etag);
    }
    if (found?.start !== offset || bytes.length !== length) throw this.#otherBytes(answer);
    return bytes;
  }

  async #ask(range: string, { signal }: TransportReadOptions = {}): Promise<StoreAnswer> {
    const { url, deed } = this.#asked;
    const etag = this.#version?.etag ?? '';
    this.#counts.requests++;
    let answer: StoreAnswer;
    try {
      answer = await this.#client.ask({
        method: 'GET',
        url,
        headers: { range, ...(etag === '' ? {} : { 'if-match': etag }) },
        deed,
        accept: [206, 404, 412, 416],
        signal,
      });
    } catch (error) {
      throw this.#failure(error, signal);
    }
    this.#counts.bytes += answer.bytes.length;
    this.#checkOpen();
    if (answer.status === 404) throw new NotFoundError(`${this.name} is not there`);
    if (answer.status === 412) throw this.#changed();
    if (answer.status === 416) throw this.#otherBytes(answer);
    this.#checkEtag(answer.headers.etag);
    return answer;
  }

  #failure(error: unknown, signal: AbortSignal | undefined): unknown {
    checkSignal(this.name, { signal });
    return error instanceof BucketError ? new TransportError(error.message, { cause: error }) : error;
  }

  /** Another read may have learnt the version meanwhile. */
  #checkEtag(etag: string | undefined): void {
    const known = this.#version?.etag ?? '';
    if (known !== '' && etag !== undefined && etag !== known) throw this.#changed();
  }

  /** Of a store that names no versions the size alone tells one from another. */
  #checkSize(size: number): void {
    if (this.#version !== undefined && this.#version.size !== size) throw this.#changed();
  }

  #changed(): GraphError {
    return new ChangedError(
      `${this.name} is another object than before, and none of an archive changes: open it again`,
    );
  }

  #otherBytes({ status, headers }: StoreAnswer): GraphError {
    const range = headers['content-range'] ?? 'no content-range';
    return new TransportError(`${this.name} sent other bytes than it was asked for: status ${status}, ${range}`);
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new ClosedError(`${this.name} was closed: open it again`);
  }
}
