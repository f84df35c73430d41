// Objects by key below one prefix of a bucket, as an archive uses them: whole ones read and written on a condition, lists, ranges, the store's clock; and
// its form over S3's protocol. A condition must be answered truly, also where the answer to the first attempt was lost; a list must never look whole
// that is not.
import { createHash } from 'node:crypto';
import type { Transport } from '@spanline/graph';
import { parseS3Location, s3Address } from '@spanline/graph/internal';
import { type Backoff, inParallel, orThrow, wholeNumber } from 'spanline/internal/base';
import { bucketError, type Deed, refusalOf } from './bucket-error.js';
import { KeptStretches } from './kept-stretches.js';
import { ObjectTransport, type ObjectVersion } from './object-transport.js';
import { S3Client, type StoreStats } from './s3-client.js';
import { Credentials, type CredentialsProvider, regionAndEndpoint } from './s3-credentials.js';
import { errorOf, type ListedObject, listPageOf } from './s3-xml.js';

export type { ListedObject, ObjectVersion, StoreStats };

/** Options of all calls. */
export interface StoreCall {
  readonly signal?: AbortSignal | undefined;
}

/** Objects by key. Everything rejects with a `BucketError`. */
export interface ObjectStore {
  /** For messages, such as `s3://bucket/prefix`. */
  readonly name: string;
  /** All of an object; `unchanged` when it is still the one that is named; undefined when there is none. */
  get(
    key: string,
    options?: StoreCall & { readonly ifNoneMatch?: string | undefined },
  ): Promise<{ readonly bytes: Buffer; readonly etag: string } | 'unchanged' | undefined>;
  /** Write an object; undefined when the condition does not hold. */
  put(
    key: string,
    bytes: Uint8Array,
    options?: StoreCall & {
      /** Only if there is none. */
      readonly ifAbsent?: boolean | undefined;
      /** Only if there is this version. */
      readonly ifMatch?: string | undefined;
    },
  ): Promise<{ readonly etag: string } | undefined>;
  /** Delete what is there of some objects. */
  delete(keys: readonly string[], options?: StoreCall): Promise<void>;
  /** What there is whose key begins with `prefix`, in the order of keys, behind `startAfter`: some at a time. */
  list(
    prefix: string,
    options?: StoreCall & { readonly startAfter?: string | undefined },
  ): AsyncGenerator<readonly ListedObject[], undefined, void>;
  /** Reads ranges of one object, which has to stay the version that is `known`, or the first that is read. */
  transport(key: string, known?: ObjectVersion): Transport;
  /** Unix milliseconds by the store's clock, as its last answer had it. Throws before the first answer. */
  clockMs(): number;
  stats(): StoreStats;
  /** Ends connections. */
  close(): void;
}

/** How an object store is reached; what is left out comes from the environment, as Amazon's own tools read it. */
export interface ObjectStoreOptions {
  /** Default `AWS_REGION`, `AWS_DEFAULT_REGION`, that of the profile, or `us-east-1`. */
  readonly region?: string | undefined;
  /** Address of a store that is not Amazon's. Default `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, or that of the profile. */
  readonly endpoint?: string | undefined;
  /** Asked for credentials now and whenever they expire. Default AWS's variables, else `@aws-sdk/credential-provider-node`. */
  readonly credentials?: CredentialsProvider | undefined;
  /** Attempts after the first when the store is busy or a connection breaks. Default 5. */
  readonly retries?: number | undefined;
  /** Milliseconds without a byte after which an attempt is given up. Default 15,000. */
  readonly stallMs?: number | undefined;
  /** Milliseconds after which a request to a store that has never answered is not tried again. Default: as often as any other. */
  readonly firstAnswerMs?: number | undefined;
  /** Milliseconds before the second attempt, doubled for each that follows. Default 100. */
  readonly firstDelayMs?: number | undefined;
  /** Objects of a page of a list at most, where the store's own bound is larger. */
  readonly pageSize?: number | undefined;
}

const LONGEST_DELAY_MS = 5000;
const DELETES_AT_A_TIME = 8;
/** Of ranges as they were read. */
const KEPT_BYTES = 32 * 1024 * 1024;

const numberOf = (name: string, value: number, min: number): number =>
  wholeNumber(name, value, [min, 2 ** 31 - 1], (message) => bucketError('LOCATION', message));

const badLocation = (cause: Error): Error => bucketError('LOCATION', cause.message, { cause });

/** The bucket and the prefix of `s3://bucket/prefix`; the prefix is empty or ends with a slash. */
export const parseBucketLocation = (location: string): { readonly bucket: string; readonly prefix: string } => {
  const [, bucket, path = ''] = /^s3:\/\/([^/]+)(?:\/(.*))?$/s.exec(location) ?? [];
  const prefix = path.replace(/\/+$/, '');
  if (bucket !== undefined) orThrow(() => parseS3Location(`s3://${bucket}/${prefix}/x`), badLocation);
  if (bucket === undefined)
    throw bucketError('LOCATION', `${location} is not the address of an archive in a bucket: write s3://bucket/prefix`);
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/` };
};

/** A store as messages name it: its address without a slash at the end. */
export const storeName = (location: string): string => {
  const { bucket, prefix } = parseBucketLocation(location);
  return `s3://${bucket}/${prefix}`.replace(/\/$/, '');
};

/** The store behind `s3://bucket/prefix`. Nothing is asked yet. */
export const openObjectStore = (location: string, options: ObjectStoreOptions = {}): ObjectStore =>
  new S3ObjectStore(location, options);

/** Over S3's protocol. */
export class S3ObjectStore implements ObjectStore {
  readonly name: string;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #region: string;
  readonly #endpoint: string | undefined;
  readonly #client: S3Client;
  readonly #pageSize: number | undefined;
  readonly #kept = new KeptStretches(KEPT_BYTES);
  #listing: Promise<boolean | undefined> | undefined;

  constructor(location: string, options: ObjectStoreOptions = {}) {
    const { bucket, prefix } = parseBucketLocation(location);
    const { region, endpoint } = regionAndEndpoint(options);
    this.name = storeName(location);
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#region = region;
    this.#endpoint = endpoint;
    this.#pageSize = options.pageSize && numberOf('pageSize', options.pageSize, 1);
    // A wrong address is reported now.
    this.#url('x');
    const delays: Backoff = {
      firstMs: numberOf('firstDelayMs', options.firstDelayMs ?? 100, 0),
      maxMs: LONGEST_DELAY_MS,
    };
    this.#client = new S3Client(new Credentials(this.name, options.credentials), region, {
      retries: numberOf('retries', options.retries ?? 5, 0),
      stallMs: numberOf('stallMs', options.stallMs ?? 15_000, 1),
      firstAnswerMs: options.firstAnswerMs && numberOf('firstAnswerMs', options.firstAnswerMs, 1),
      delays,
    });
  }

  get(
    key: string,
    options: StoreCall & { readonly ifNoneMatch?: string | undefined } = {},
  ): ReturnType<ObjectStore['get']> {
    return this.#read(key, options);
  }

  /** From the store itself, whatever a class that keeps a cache makes of `get`. */
  async #read(
    key: string,
    { ifNoneMatch, signal }: StoreCall & { readonly ifNoneMatch?: string | undefined },
  ): ReturnType<ObjectStore['get']> {
    const { status, bytes, headers } = await this.#client.ask({
      method: 'GET',
      url: this.#url(key),
      headers: ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch },
      deed: this.#reading(key),
      accept: [304, 404],
      signal,
    });
    if (status === 304) return 'unchanged';
    if (status === 404) return this.#missing('reading', key, bytes);
    return { bytes, etag: headers.etag ?? '' };
  }

  async put(
    key: string,
    body: Uint8Array,
    {
      ifAbsent = false,
      ifMatch,
      signal,
    }: StoreCall & { readonly ifAbsent?: boolean | undefined; readonly ifMatch?: string | undefined } = {},
  ): Promise<{ readonly etag: string } | undefined> {
    const { status, bytes, headers, mayBeSecond } = await this.#client.ask({
      method: 'PUT',
      url: this.#url(key),
      headers: {
        'content-md5': createHash('md5').update(body).digest('base64'),
        ...(ifAbsent ? { 'if-none-match': '*' } : {}),
        ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      },
      body,
      deed: this.#deed('writing', key, 's3:PutObject'),
      // Only a version that is to be replaced can be missing: any other write that is answered so was not done.
      accept: ifMatch === undefined ? [412] : [404, 412],
      signal,
    });
    if (status === 404) return this.#missing('writing', key, bytes);
    if (status !== 412) return { etag: headers.etag ?? '' };
    // The answer to an earlier attempt was lost: it may be that one that is in the way of this.
    const found = mayBeSecond ? await this.#read(key, { signal }) : undefined;
    return typeof found === 'object' && found.bytes.equals(body) ? { etag: found.etag } : undefined;
  }

  async delete(keys: readonly string[], { signal }: StoreCall = {}): Promise<void> {
    await inParallel(keys, DELETES_AT_A_TIME, async (key) => {
      const { status, bytes } = await this.#client.ask({
        method: 'DELETE',
        url: this.#url(key),
        deed: this.#deed('deleting', key, 's3:DeleteObject'),
        accept: [404],
        signal,
      });
      if (status === 404) this.#missing('deleting', key, bytes);
    });
  }

  async *list(
    prefix: string,
    { startAfter, signal }: StoreCall & { readonly startAfter?: string | undefined } = {},
  ): AsyncGenerator<readonly ListedObject[], undefined, void> {
    const deed = this.#deed('listing', prefix, 's3:ListBucket');
    let next: string | undefined;
    do {
      const { bytes } = await this.#client.ask({
        method: 'GET',
        url: this.#url(''),
        query: {
          'list-type': '2',
          prefix: this.#prefix + prefix,
          ...(this.#pageSize === undefined ? {} : { 'max-keys': String(this.#pageSize) }),
          ...(next === undefined ? {} : { 'continuation-token': next }),
          ...(startAfter === undefined || next !== undefined ? {} : { 'start-after': this.#prefix + startAfter }),
        },
        deed,
        signal,
      });
      const page = listPageOf(bytes);
      if (page === undefined) throw bucketError('REFUSED', `${deed.what}: the store sent no list that can be read`);
      yield page.objects.map((object) => ({ ...object, key: object.key.slice(this.#prefix.length) }));
      next = page.next;
    } while (next !== undefined);
  }

  transport(key: string, known?: ObjectVersion): Transport {
    return new ObjectTransport(
      this.#client,
      { url: this.#url(key), name: `${this.name}/${key}`, deed: this.#reading(key) },
      known,
      this.#kept,
    );
  }

  clockMs(): number {
    const { clockMs } = this.#client;
    if (clockMs === undefined) throw new Error(`the time of ${this.name} is known only once it has answered`);
    return clockMs;
  }

  stats(): StoreStats {
    return this.#client.stats();
  }

  close(): void {
    this.#client.close();
  }

  /** Without a key that of the bucket itself. */
  #url(key: string): string {
    const path = key === '' ? '' : this.#prefix + key;
    return orThrow(() => s3Address({ bucket: this.#bucket, key: path }, this.#region, this.#endpoint), badLocation);
  }

  #deed(verb: string, key: string, right: string): Deed {
    return { what: `${verb} ${this.name}/${key}`, right };
  }

  #reading(key: string): Deed {
    return { ...this.#deed('reading', key, 's3:GetObject'), mayList: () => this.#mayList() };
  }

  /** Whether what is there may be listed, asked once; undefined when the store does not say. */
  #mayList(): Promise<boolean | undefined> {
    this.#listing ??= this.#askForList().catch(() => {
      this.#listing = undefined;
      return undefined;
    });
    return this.#listing;
  }

  async #askForList(): Promise<boolean> {
    const { status } = await this.#client.ask({
      method: 'GET',
      url: this.#url(''),
      query: { 'list-type': '2', prefix: this.#prefix, 'max-keys': '1' },
      deed: this.#deed('listing', '', 's3:ListBucket'),
      accept: [403],
    });
    return status !== 403;
  }

  /** There is no such object; throws when there is no such bucket. */
  #missing(verb: string, key: string, body: Buffer): undefined {
    if (body.includes('NoSuchBucket'))
      throw bucketError(
        'MISSING',
        `${verb} ${this.name}/${key}: there is no bucket ${this.#bucket}; create it, or correct its name or the endpoint`,
      );
    // A page of some other server says nothing of what a store has.
    if (body.length > 0 && errorOf(body).code !== 'NoSuchKey') throw refusalOf(this.#deed(verb, key, ''), 404, body);
    return undefined;
  }
}
