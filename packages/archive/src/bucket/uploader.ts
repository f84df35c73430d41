// Puts the segments of a spool into the bucket, the oldest first. A segment is removed from the spool only when it is there for sure; whatever happens
// meanwhile it must be there once: one that may have been put before is looked for under its old hours and in the catalogue first. What fails is
// counted and tried again, later each time, and never thrown at those who append.

import { GraphError } from '@spanline/graph';
import { type Backoff, backoffMs, inParallel, timers } from 'spanline/internal/base';
import type { BucketStats } from '../archive-options.js';
import { clusteredSegment } from '../segment/cluster-segment.js';
import { bucketError } from './bucket-error.js';
import { freshKey, hourOf, hourStartMs, timelineKey } from './keys.js';
import type { ObjectStore } from './object-store.js';
import type { Spool, SpooledSegment } from './spool.js';

const BEAT_MS = 1000;
/** Between two looks for spools of dead processes beside this one. */
const ADOPT_MS = 60_000;
/** How long the store's clock is taken from its last answer. */
const CLOCK_MS = 30_000;
const DELAYS: Backoff = { firstMs: 1000, maxMs: 60_000 };
/** Uploads at a time. */
const PARALLEL = 4;
/** How long the catalogue remembers what it had: a retry after that may be a second copy. */
export const RETRY_MS = 7 * 24 * 3_600_000;

/** What the catalogue says of an upload. */
export interface Outcome {
  /** It is live, dead, or was merged. */
  readonly isKnown: boolean;
  /** Uploads of earlier hours that it does not know are never looked for. */
  readonly listFrom: string;
}

/** What an uploader needs to know. */
export interface UploaderOptions {
  readonly store: ObjectStore;
  readonly spool: Spool;
  /** Bytes of the spool beyond which spans are refused. */
  readonly spoolBytes: number;
  /** What the newest generation says of an upload. */
  readonly outcome: (segment: string, signal: AbortSignal) => Promise<Outcome>;
  /** Write-ahead files that a segment stands for; undefined when it cannot be read just now. */
  readonly replacesOf: (segment: string) => Promise<readonly string[] | undefined>;
  /** Begin a new file of timelines. */
  readonly rotateTimelines: () => void;
  /** A segment is in the bucket. Called before it goes from the spool. */
  readonly onUploaded: (segment: string, key: string, bytes: number) => void;
  /** Files of dead writers are in the spool now. */
  readonly onAdopted: () => void;
  /** What keeps segments from being put, each time that it does; undefined when they were. */
  readonly onTrouble?: (trouble: string | undefined) => void;
}

/** What was done. */
export type UploadStats = Pick<
  BucketStats,
  'uploads' | 'uploadedBytes' | 'uploadFailures' | 'lastUploadFailure' | 'spooledBytes' | 'uploadDelayMs'
>;

/** A segment that is in the bucket. */
interface PutSegment {
  readonly key: string;
  readonly bytes: number;
}

/** A segment as it goes up; one that is damaged as it is, for those who read it to say so. */
const objectOf = async (bytes: Buffer): Promise<Buffer> => {
  try {
    return await clusteredSegment(bytes);
  } catch (error) {
    if (error instanceof GraphError) return bytes;
    throw error;
  }
};

/** Uploads one spool. */
export class Uploader {
  readonly #options: UploaderOptions;
  readonly #counts = { uploads: 0, uploadedBytes: 0, uploadFailures: 0, lastUploadFailure: '' };
  /** In the bucket for sure, while their write-ahead files are still there. */
  readonly #confirmed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #failures = 0;
  #retryAt = 0;
  #adoptAt = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #spooledBytes = 0;
  #isClosed = false;
  readonly #closing = new AbortController();

  constructor(options: UploaderOptions) {
    this.#options = options;
    this.#measure();
  }

  start(): void {
    this.#timer = timers.setInterval(() => this.#beat(), BEAT_MS).unref();
  }

  /** Whether the spool has no room for further spans. */
  get isFull(): boolean {
    return this.#spooledBytes >= this.#options.spoolBytes;
  }

  /** What keeps segments from being put now; empty when nothing does. */
  get trouble(): string {
    return this.#failures === 0 ? '' : this.#counts.lastUploadFailure;
  }

  stats(): UploadStats {
    this.#measure();
    const [oldest] = this.#options.spool.segments();
    const uploadDelayMs = oldest === undefined ? 0 : Math.max(0, Math.round(timers.wallMs() - oldest.sinceMs));
    return { ...this.#counts, spooledBytes: this.#spooledBytes, uploadDelayMs };
  }

  /** Resolves when every segment that is in the spool now is in the bucket; rejects with what kept one from it. */
  async drain(): Promise<void> {
    await this.#running?.catch(() => {});
    await this.#round();
  }

  /** Put what is left, for no longer than `ms`; the rest stays in the spool. */
  async close(ms: number): Promise<void> {
    timers.clearInterval(this.#timer);
    const timer = timers.setTimeout(() => this.#closing.abort(), ms);
    try {
      await this.drain();
    } catch {
      // Counted; the next one that has this spool puts it.
    } finally {
      timers.clearTimeout(timer);
      this.#isClosed = true;
      this.#closing.abort();
      await this.#running?.catch(() => {});
    }
  }

  #beat(): void {
    this.#measure();
    if (this.#running !== undefined || timers.monotonicMs() < this.#retryAt) return;
    this.#adopt().then(
      () => this.#round().catch(() => {}),
      (error: unknown) => this.#fail(error),
    );
  }

  #measure(): void {
    try {
      this.#spooledBytes = this.#options.spool.bytes();
    } catch (error) {
      this.#counts.lastUploadFailure = String(error);
    }
  }

  async #adopt(): Promise<void> {
    if (timers.monotonicMs() < this.#adoptAt) return;
    this.#adoptAt = timers.monotonicMs() + ADOPT_MS;
    const { files, failures } = await this.#options.spool.adopt();
    if (files > 0) this.#options.onAdopted();
    // They keep nothing of this spool from its way.
    for (const failure of failures) this.#count(failure);
  }

  #round(): Promise<void> {
    this.#running ??= this.#putAll().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #putAll(): Promise<void> {
    const { spool } = this.#options;
    try {
      if (this.#isClosed) return;
      spool.checkOurs();
      const segments = spool.segments();
      if (segments.length === 0) return;
      await inParallel(segments, PARALLEL, (segment) => this.#handOver(segment));
      await this.#putTimelines(segments[0].name);
      this.#failures = 0;
      this.#options.onTrouble?.(undefined);
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  #fail(error: unknown): void {
    this.#failures++;
    this.#count(error);
    this.#retryAt = timers.monotonicMs() + backoffMs(this.#failures, DELAYS);
    this.#options.onTrouble?.(this.trouble);
  }

  #count(error: unknown): void {
    this.#counts.uploadFailures++;
    this.#counts.lastUploadFailure = String(error);
  }

  async #handOver(segment: SpooledSegment): Promise<void> {
    const { spool, replacesOf, onUploaded } = this.#options;
    const { name } = segment;
    if (!this.#confirmed.has(name)) {
      const put = await this.#put(segment);
      this.#confirmed.add(name);
      this.#counts.uploads++;
      this.#counts.uploadedBytes += put?.bytes ?? 0;
      if (put !== undefined) onUploaded(name, put.key, put.bytes);
    }
    const waiting = spool.walIds();
    // Without its segment a write-ahead file would become one again, of another name.
    if (waiting.size > 0 && (await replacesOf(name))?.some((id) => waiting.has(id)) !== false) return;
    spool.remove(spool.segments().find((one) => one.name === name) ?? segment);
    this.#confirmed.delete(name);
  }

  /** Put one, unless it is there; where it is, or undefined when that is for the catalogue to say. */
  async #put({ name, tried, ...segment }: SpooledSegment): Promise<PutSegment | undefined> {
    const { store, spool, outcome } = this.#options;
    // The clock of the store is known from its answers, the last of which may be long ago.
    if (timers.monotonicMs() - this.#askedAt > CLOCK_MS) await outcome(name, this.#closing.signal);
    this.#askedAt = timers.monotonicMs();
    let hour = hourOf(store.clockMs());
    const earlier = tried.filter((one) => one !== hour);
    if (earlier.length > 0) {
      const { isKnown, listFrom } = await outcome(name, this.#closing.signal);
      if (isKnown) return undefined;
      for (const one of earlier) {
        const key = freshKey(one, name);
        const bytes = one < listFrom ? undefined : await this.#bytesOf(key);
        if (bytes !== undefined) return { key, bytes };
      }
      if (store.clockMs() - hourStartMs(earlier[0]) > RETRY_MS)
        throw bucketError(
          'TOO_LATE',
          `${spool.putAside({ name, tried, ...segment })} in ${spool.directory} was tried to be put first in ${earlier[0]}, longer ago than the archive ${store.name} remembers what it had: it may be a second copy, is not put any more, and can be deleted or imported`,
        );
    }
    const object = await objectOf(spool.read(name));
    for (;;) {
      const key = freshKey(hour, name);
      if (!tried.includes(hour)) spool.willTry(name, hour);
      // Undefined: it was put before, and the answer was lost.
      await store.put(key, object, { ifAbsent: true, signal: this.#closing.signal });
      const now = hourOf(store.clockMs());
      if (now === hour) return { key, bytes: object.length };
      // It took so long that readers may not look there any more.
      const { isKnown, listFrom } = await outcome(name, this.#closing.signal);
      if (isKnown) return undefined;
      if (hour >= listFrom) return { key, bytes: object.length };
      hour = now;
    }
  }

  /** Bytes of an object, if it is there. */
  async #bytesOf(key: string): Promise<number | undefined> {
    const { store } = this.#options;
    for await (const page of store.list(key, { signal: this.#closing.signal })) {
      const found = page.find((one) => one.key === key);
      if (found !== undefined) return found.size;
    }
    return undefined;
  }

  /** All that timelines say until now, with a segment of the same time. */
  async #putTimelines(segment: string): Promise<void> {
    const { store, spool, rotateTimelines } = this.#options;
    rotateTimelines();
    const files = spool.timelines();
    if (files.length === 0) return;
    const startMs = Math.min(...files.map((file) => file.startMs));
    const endMs = Math.max(...files.map((file) => file.endMs));
    const key = timelineKey(hourOf(store.clockMs()), segment, startMs, endMs);
    const names = files.map(({ name }) => name);
    const bytes = Buffer.concat(names.map((name) => spool.read(name)));
    await store.put(key, bytes, { ifAbsent: true, signal: this.#closing.signal });
    spool.removeFiles(names);
  }
}
