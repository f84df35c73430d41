// Spans that are not yet in a segment. What was acknowledged must survive the process; what is held must be bounded, and what is refused is
// counted. Few spans become a sorted segment at once; many an unsorted one, while others are taken, for that costs the process least.
import { TransportError } from '@spanline/graph';
import { attempt, timers } from 'spanline/internal/base';
import type { ArchivedSpan } from 'spanline/internal/record';
import type { ResolvedArchiveOptions } from './archive-options.js';
import { BufferedBatch } from './buffered-batch.js';
import { writeBatchesTo, writeSpansTo } from './make-segments.js';
import type { SpanList } from './span-list.js';
import type { WalWriter, Written } from './wal/wal-writer.js';

/** After a segment could not be written it is not tried again for so long. */
const RETRY_MS = 5000;
/** Times a flush writes everything again, when files are taken away. */
const MAX_ATTEMPTS = 5;
/** Batches that wait for a segment; with so many the last one grows on. */
const MAX_WAITING = 8;
/** Bytes of few spans that are sorted at once at most: that takes a few milliseconds, and saves a file to merge. */
const SORTED_BYTES = 1024 * 1024;

/** The directory that spans are held in. */
export interface SpansHome {
  /** Nothing is taken while it is. */
  readonly isFull: boolean;
  /** Throws while it is another's. */
  checkOurs(): void;
  /** Times that it was another's for a while. */
  readonly losses: number;
}

/** One that is never full, and shared by whoever writes. */
const OPEN_HOME: SpansHome = { isFull: false, checkOurs: () => {}, losses: 0 };

/** The spans of one writer. */
export class BufferedSpans {
  readonly #directory: string;
  readonly #limits: ResolvedArchiveOptions;
  readonly #home: SpansHome;
  /** Takes what comes. */
  #open: BufferedBatch | undefined;
  /** What waits for its segment, the oldest first, which may be becoming one. */
  readonly #waiting: BufferedBatch[] = [];
  #sealing: Promise<void> | undefined;
  #retryAt = 0;
  #isAbandoned = false;
  /** Times that held spans became a segment. */
  seals = 0;
  appended = 0;
  /** Times that no segment could be made, and why the last time. */
  failures = 0;
  lastFailure = '';
  refused = 0;

  constructor(directory: string, limits: ResolvedArchiveOptions, home = OPEN_HOME) {
    this.#directory = directory;
    this.#limits = limits;
    this.#home = home;
  }

  get count(): number {
    return this.#batches.reduce((sum, batch) => sum + batch.count, 0);
  }

  get walBytes(): number {
    return this.#batches.reduce((sum, { wal }) => sum + wal.writer.bytes, 0);
  }

  /** How many spans would be taken now. */
  get room(): number {
    const { maxBufferedSpans, maxBufferedBytes } = this.#limits;
    return this.#home.isFull || this.walBytes >= maxBufferedBytes ? 0 : Math.max(0, maxBufferedSpans - this.count);
  }

  /** Identities of the files this writer has. */
  get walIds(): ReadonlySet<string> {
    return new Set(this.#batches.map(({ wal }) => wal.id));
  }

  /** The held spans as queries see them, the newest first; not those for which a segment that replaces their file was found already. */
  lists(replaced: ReadonlySet<string>): readonly SpanList[] {
    return this.#batches
      .filter(({ isHandedOver, wal }) => !(isHandedOver && replaced.has(wal.id)))
      .map(({ list }) => list)
      .reverse();
  }

  /** Take spans in order, as many as there is room for; the number taken. Throws when none could be. */
  append(spans: readonly ArchivedSpan[]): number {
    const { room } = this;
    const taken = room >= spans.length ? spans : spans.slice(0, room);
    if (taken.length > 0) {
      try {
        this.#open ??= new BufferedBatch(this.#directory);
        this.#open.wal.writer.append(taken);
      } catch (error) {
        // The disk: none was taken.
        if (error instanceof TransportError) this.refused += spans.length;
        throw error;
      }
      this.appended += taken.length;
      if (this.#isFull(this.#open)) this.#trySeal();
    }
    this.refused += spans.length - taken.length;
    return taken.length;
  }

  /** Take finished spans as `WalWriter.appendFinished` does; there must be room for all of them. */
  appendFinished(...spans: Parameters<WalWriter['appendFinished']>): Written {
    this.#open ??= new BufferedBatch(this.#directory);
    const written = this.#open.wal.writer.appendFinished(...spans);
    this.appended += written.taken;
    if (this.#isFull(this.#open)) this.#trySeal();
    return written;
  }

  /** Resolves when the disk has all spans taken before. */
  async flush(): Promise<void> {
    if (this.#isAbandoned)
      throw new TransportError(`what is held in ${this.#directory} was left in its file when the archive was closed`);
    for (let losses = -1; losses !== this.#home.losses; ) {
      this.#home.checkOurs();
      losses = this.#home.losses;
      await Promise.all(this.#batches.map((batch) => this.#flushBatch(batch)));
      // Another may have taken the files meanwhile.
      this.#home.checkOurs();
    }
  }

  /** Once a second: bring what was taken to the disk, show that this writer lives, and make a segment when it is time. */
  async beat(): Promise<void> {
    this.#home.checkOurs();
    for (const batch of this.#batches) {
      batch.wal.writer.touch();
      batch.forget();
    }
    const open = this.#open;
    if (open !== undefined && (this.#isFull(open) || timers.wallMs() - open.since >= this.#limits.segmentMs))
      this.#trySeal();
    this.#go();
    await this.flush();
  }

  /** Write all that is held as segments; the write-ahead files are not needed any more. Rejects with `TransportError`, nothing lost. */
  async seal(): Promise<void> {
    this.#home.checkOurs();
    const open = this.#open;
    if (open !== undefined && this.#waiting.length === 0 && this.#isSmall(open)) {
      this.#sealHere(open);
      return;
    }
    this.#shut();
    const last = this.#waiting.at(-1);
    while (last !== undefined && this.#waiting.includes(last)) await this.#sealNext();
  }

  /** Leave what is held to the next one who opens the archive. */
  abandon(): void {
    for (const batch of this.#batches) {
      this.#isAbandoned = true;
      batch.abandon();
    }
    this.#waiting.length = 0;
    this.#open = undefined;
  }

  get #batches(): readonly BufferedBatch[] {
    return this.#open === undefined ? this.#waiting : [...this.#waiting, this.#open];
  }

  #isFull({ count, wal }: BufferedBatch): boolean {
    return count >= this.#limits.segmentSpans || wal.writer.bytes >= this.#limits.walBytes;
  }

  #isSmall({ count, wal }: BufferedBatch): boolean {
    return count < this.#limits.unsortedSpans && wal.writer.bytes < SORTED_BYTES;
  }

  async #flushBatch(batch: BufferedBatch): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const { wal } = batch;
      const isCurrent = (): boolean => this.#batches.includes(batch) && batch.wal === wal;
      if (!wal.writer.isLost) {
        try {
          await wal.writer.sync();
        } catch (error) {
          if (isCurrent()) throw error;
        }
        if (this.#isAbandoned) break;
        // It is in a segment now, which is synced.
        if (!this.#batches.includes(batch)) return;
        // Another process may have taken the file for a dead one's: then it has all that was in it before, and not what came after.
        if (isCurrent() && !wal.writer.isLost) return;
      }
      if (batch.isHandedOver) await this.#sealing?.catch(() => {});
      else if (isCurrent()) batch.rewrite();
      if (!this.#batches.includes(batch) && !this.#isAbandoned) return;
    }
    throw new TransportError(`what is held in ${this.#directory} cannot be made sure of: its files are lost at once`);
  }

  /** A full disk: the spans stay held, and appending refuses when they are too many. */
  #trySeal(): void {
    const open = this.#open;
    if (open === undefined || timers.wallMs() < this.#retryAt) return;
    if (this.#waiting.length === 0 && this.#isSmall(open)) {
      // What fails is counted, and tried again later; the spans are in the write-ahead file.
      attempt(() => this.#sealHere(open));
    } else if (this.#waiting.length < MAX_WAITING) {
      this.#shut();
      this.#go();
    }
  }

  /** What is held waits for its segment; others are taken into a batch of their own. */
  #shut(): void {
    if (this.#open !== undefined) this.#waiting.push(this.#open);
    this.#open = undefined;
  }

  /** Make segments until none waits. */
  #go(): void {
    if (this.#sealing !== undefined || this.#waiting.length === 0 || timers.wallMs() < this.#retryAt) return;
    this.#sealNext().then(
      () => this.#go(),
      () => {
        // Counted; the next beat tries again.
      },
    );
  }

  /** Sorted, in this thread, at once. */
  #sealHere(open: BufferedBatch): void {
    try {
      // The segment names the write-ahead file: a crash before that is gone shows nothing twice.
      if (open.count > 0) writeSpansTo(this.#directory, open.rows(), [open.wal.id]);
    } catch (error) {
      throw this.#failed(error);
    }
    this.#open = undefined;
    this.#finish(open);
  }

  #sealNext(): Promise<void> {
    this.#sealing ??= this.#sealFirst().finally(() => {
      this.#sealing = undefined;
    });
    return this.#sealing;
  }

  async #sealFirst(): Promise<void> {
    const [batch] = this.#waiting;
    const { id, writer } = batch.wal;
    batch.isHandedOver = true;
    try {
      if (batch.count > 0) await writeBatchesTo(this.#directory, writer.frames, [id]);
    } catch (error) {
      throw this.#failed(error);
    } finally {
      batch.isHandedOver = false;
    }
    this.#waiting.shift();
    this.#finish(batch);
  }

  #finish(batch: BufferedBatch): void {
    if (batch.count > 0) this.seals++;
    batch.drop();
  }

  #failed(error: unknown): unknown {
    this.#retryAt = timers.wallMs() + RETRY_MS;
    this.failures++;
    this.lastFailure = String(error);
    return error;
  }
}
