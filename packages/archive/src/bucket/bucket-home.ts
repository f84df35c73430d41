// What an archive in a bucket has beside one in a directory: the store, the spool with what uploads it, and timelines by the hour. A process that writes
// must come up and keep what it takes while the store cannot be reached, and say at once what will never work.

import { BadOptionsError } from '@spanline/graph';
import { attempt, inParallel, timers, wholeNumber } from 'spanline/internal/base';
import type { ArchiveOptions, BucketStats, DamagedSegment, Retention } from '../archive-options.js';
import type { SpansHome } from '../buffered-spans.js';
import { DirectoryPlace } from '../segment-place.js';
import { stretchesIn, type TimelineStretch } from '../timeline/timeline-files.js';
import type { AskOptions } from '../trace-source.js';
import type { WorkThread } from '../work-thread.js';
import { BucketError } from './bucket-error.js';
import { BucketMaintainer } from './bucket-maintenance.js';
import { BucketPlace } from './bucket-place.js';
import { Catalogue } from './catalogue.js';
import { type CatalogueReader, openCatalogue } from './catalogue-reader.js';
import { needConditionalWrites } from './conditional-writes.js';
import { CachedStore, cacheDirectoryOf, DiskCache } from './disk-cache.js';
import { hourOf, parseTimelineKey } from './keys.js';
import { type ObjectStore, openObjectStore, storeName } from './object-store.js';
import { regionAndEndpoint } from './s3-credentials.js';
import { Spool, type UnsentFiles } from './spool.js';
import { Uploader, type UploaderOptions, type UploadStats } from './uploader.js';

const MIB = 1024 * 1024;
const SPOOL_BYTES = 1024 * MIB;
const CACHE_BYTES = 512 * MIB;
/** What one search reads and asks at most. */
const SEARCH_BYTES = 512 * MIB;
const SEARCH_REQUESTS = 20_000;
/** Segments of a bucket open at a time, unless a number is given. */
export const OPEN_SEGMENTS = 1024;
/** How long opening waits for the store's answer where it can do without. */
const OPEN_MS = 5000;
/** How long closing waits for uploads; what is left stays in the spool. */
const CLOSE_MS = 10_000;
const HOUR_MS = 3_600_000;
/** Timelines are looked for until so long after their time: they go up with the next segment. */
const LATE_MS = HOUR_MS;
/** Timelines read at a time. */
const PARALLEL = 16;

const NO_UPLOADS: UploadStats = {
  uploads: 0,
  uploadedBytes: 0,
  uploadFailures: 0,
  lastUploadFailure: '',
  spooledBytes: 0,
  uploadDelayMs: 0,
};

const uploadsFail = (directory: string, why: string): string =>
  `spans wait in the spool ${directory} and are tried again: ${why}`;
const maintenanceFailed = (why: string): string => `maintenance failed and is tried again: ${why}`;
const wasAnothers = (directory: string): string =>
  `the spool ${directory} was taken over by another process while this one gave no sign of life, and is its own again: what was flushed before gets into the bucket from there`;

/** Says that something fails once, in whatever words, and once that it does no longer. */
class Notices {
  readonly #say: (line: string) => void;
  #isFailing = false;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  update(failure: string | undefined, mended: string): void {
    const isFailing = failure !== undefined;
    if (isFailing !== this.#isFailing) this.#say(failure ?? mended);
    this.#isFailing = isFailing;
  }
}

const badOption = (message: string): Error => new BadOptionsError(message);

/** What the archive does with files in the spool. */
export interface SpoolWork extends Pick<UploaderOptions, 'replacesOf' | 'rotateTimelines' | 'onAdopted'> {
  /** Merges. */
  readonly worker: WorkThread;
}

export class BucketHome implements SpansHome {
  readonly #spoolBytes: number;
  readonly #maintenance: ArchiveOptions;
  #uploader: Uploader | undefined;
  #maintaining: BucketMaintainer | undefined;
  #worker: WorkThread | undefined;
  /** What was left in the spool when it was closed. */
  unsent: UnsentFiles | undefined;

  private constructor(
    readonly store: ObjectStore,
    readonly catalogue: CatalogueReader,
    readonly place: BucketPlace,
    readonly spool: Spool | undefined,
    spoolBytes: number,
    maintenance: ArchiveOptions,
  ) {
    this.#spoolBytes = spoolBytes;
    this.#maintenance = maintenance;
  }

  /** Take the spool and look at the bucket. */
  static async open(location: string, options: ArchiveOptions): Promise<BucketHome> {
    const { readOnly = false, spool: directory, spoolIsShared = false } = options;
    const spoolBytes = wholeNumber('spoolBytes', options.spoolBytes ?? SPOOL_BYTES, [1], badOption);
    const cacheBytes = wholeNumber('cacheDirectoryBytes', options.cacheDirectoryBytes ?? CACHE_BYTES, [1], badOption);
    if (!readOnly && (directory === undefined || directory === ''))
      throw new BadOptionsError(
        `an archive in ${location} is written by way of a local directory: give spool, or readOnly to read alone`,
      );
    const { s3 } = options;
    const place = `${storeName(location)} ${regionAndEndpoint(s3 ?? {}).endpoint ?? ''}`;
    const { cacheDirectory = cacheDirectoryOf(place) } = options;
    const cache = cacheDirectory === '' ? undefined : new DiskCache(cacheDirectory, cacheBytes);
    const store = cache === undefined ? openObjectStore(location, s3) : new CachedStore(location, s3, cache);
    let spool: Spool | undefined;
    try {
      const changes = new Catalogue(store);
      const catalogue = openCatalogue(store, changes, cache);
      if (!readOnly)
        spool = await (spoolIsShared ? Spool.openOneOf(directory as string) : Spool.open(directory as string));
      const local = spool === undefined ? undefined : new DirectoryPlace(spool.directory, true);
      const segments = new BucketPlace(store, catalogue, local);
      // Who writes begins also without it: it may be there in a minute, and what is taken until then is in the spool.
      const patience = new AbortController();
      const timer = readOnly ? undefined : timers.setTimeout(() => patience.abort(), OPEN_MS);
      const look = async (): Promise<void> => {
        await catalogue.read(patience.signal);
        if (!readOnly && options.maintain === true) await needConditionalWrites(store, patience.signal);
      };
      await look()
        .catch((error: unknown) => {
          if (readOnly || !(patience.signal.aborted || isPassing(error))) throw error;
        })
        .finally(() => timers.clearTimeout(timer));
      return new BucketHome(store, catalogue, segments, spool, spoolBytes, options);
    } catch (error) {
      spool?.close();
      store.close();
      throw error;
    }
  }

  get #maintainer(): BucketMaintainer {
    const { maxAgeMs, maxBytes, mergedSpans, onNotice = () => {} } = this.#maintenance;
    const passes = new Notices(onNotice);
    this.#maintaining ??= new BucketMaintainer(this.store, {
      ...{ maxAgeMs, maxBytes, mergedSpans, worker: this.#worker },
      onPass: (failure) =>
        passes.update(failure && maintenanceFailed(failure), `maintenance of ${this.store.name} works again`),
    });
    return this.#maintaining;
  }

  /** Of write-ahead files; empty for who only reads. */
  get directory(): string {
    return this.spool?.directory ?? '';
  }

  /** Whether nothing is taken: the spool is full, or another's. */
  get isFull(): boolean {
    return this.#uploader?.isFull === true || this.spool?.lock.check() === false;
  }

  get losses(): number {
    return this.spool?.lock.losses ?? 0;
  }

  checkOurs(): void {
    this.spool?.checkOurs();
  }

  /** Upload from now on, and maintain if that is wanted. */
  start({ worker, ...work }: SpoolWork): void {
    const { spool, store, place } = this;
    const spoolBytes = this.#spoolBytes;
    this.#worker = worker;
    if (spool === undefined) return;
    const { onNotice = () => {} } = this.#maintenance;
    const uploads = new Notices(onNotice);
    spool.lock.onAgain = () => onNotice(wasAnothers(spool.directory));
    if (this.#maintenance.maintain === true) this.#maintainer.start();
    this.#uploader = new Uploader({
      store,
      spool,
      spoolBytes,
      outcome: async (segment, signal) => {
        const generation = await this.catalogue.read(signal);
        return {
          isKnown: await this.catalogue.everKnew(generation, segment, signal),
          listFrom: generation.listFrom,
        };
      },
      onUploaded: (segment, key, bytes) => place.uploaded(segment, key, bytes),
      onTrouble: (trouble) =>
        uploads.update(trouble && uploadsFail(spool.directory, trouble), `spans get into ${store.name} again`),
      ...work,
    });
    this.#uploader.start();
  }

  /** Resolves when all segments of the spool are in the bucket. */
  async drain(): Promise<void> {
    await this.#uploader?.drain();
  }

  /** The stretches in the bucket that overlap this time; one may be there twice. */
  async timeline(fromUs: number, toUs: number): Promise<TimelineStretch[]> {
    const [fromMs, toMs] = [fromUs / 1000, toUs / 1000];
    const keys: string[] = [];
    const startAfter = `timelines/${hourOf(Math.max(0, fromMs - HOUR_MS))}`;
    pages: for await (const page of this.store.list('timelines/', { startAfter })) {
      // Hours are of the store's clock, which is known by its answer; a reader's own may be behind.
      const until = hourOf(Math.min(toMs + LATE_MS, this.store.clockMs() + HOUR_MS));
      for (const { key } of page) {
        const known = parseTimelineKey(key);
        if (known === undefined) continue;
        if (known.hour > until) break pages;
        if (known.startMs <= toMs && known.endMs >= fromMs) keys.push(key);
      }
    }
    const found: TimelineStretch[] = [];
    await inParallel(keys, PARALLEL, async (key) => {
      const object = await this.store.get(key);
      // Too old, and deleted meanwhile.
      if (object === undefined || object === 'unchanged') return;
      const { stretches } = stretchesIn(object.bytes.toString());
      found.push(...stretches.filter((stretch) => stretch.fromUs <= toUs && stretch.toUs >= fromUs));
    });
    return found;
  }

  /** Fold and merge whatever can be. */
  async compact(): Promise<void> {
    await this.#maintainer.pass({ all: true });
  }

  /** Declare dead what is older or more than `limits` allow. */
  async retain(limits: Retention): Promise<void> {
    await this.#maintainer.retain(limits);
  }

  /** When a search is over, because it has read too much; `report` gets that, and from when on something is left out. */
  searchBound(report: (fault: DamagedSegment, latestUnixNs: bigint) => void): Pick<AskOptions, 'isOver' | 'onOver'> {
    const before = this.store.stats();
    return {
      isOver: () => {
        const { requests, bytesRead } = this.store.stats();
        return requests - before.requests > SEARCH_REQUESTS || bytesRead - before.bytesRead > SEARCH_BYTES;
      },
      onOver: (latestUnixNs) => {
        const time = new Date(Math.ceil(Number(latestUnixNs / 1_000_000n))).toISOString();
        const fault = {
          file: this.store.name,
          code: 'ERR_SPANLINE_GRAPH_LIMIT',
          message: `the search was ended when it had read ${SEARCH_BYTES / MIB} MiB or asked ${SEARCH_REQUESTS} times: of what ended before ${time} some is left out; go on with a search to that time, or ask for less`,
        };
        report(fault, latestUnixNs);
      },
    };
  }

  /** What keeps this process from uploading or maintaining, in words; asks nobody. */
  troubles(): string[] {
    const upload = this.#uploader?.trouble ?? '';
    const maintenance = this.#maintaining?.stats().lastFailure ?? '';
    return [
      ...(upload === '' ? [] : [uploadsFail(this.directory, upload)]),
      ...(maintenance === '' ? [] : [maintenanceFailed(maintenance)]),
    ];
  }

  stats(segmentMs: number): BucketStats {
    const uploads = this.#uploader?.stats() ?? NO_UPLOADS;
    return {
      generation: this.place.generation.number,
      freshUploads: this.place.freshUploads,
      ...uploads,
      delayMs: segmentMs + uploads.uploadDelayMs,
      spoolLosses: this.losses,
      ...(this.#maintaining === undefined ? {} : { maintenance: this.#maintaining.stats() }),
      ...this.store.stats(),
    };
  }

  /** Upload what can be uploaded soon. */
  async stop(): Promise<void> {
    await this.#maintaining?.stop();
    await this.#uploader?.close(CLOSE_MS);
  }

  close(): void {
    this.unsent = attempt(() => this.spool?.unsent());
    this.spool?.close();
    this.store.close();
  }
}

const isPassing = (error: unknown): boolean =>
  error instanceof BucketError && error.code === 'ERR_SPANLINE_BUCKET_UNAVAILABLE';
