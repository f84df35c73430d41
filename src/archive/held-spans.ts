// Spans that are not yet in a segment: in memory, and in the write-ahead file of this process. What was acknowledged must survive the
// process; what is held must be bounded, and what is refused is counted.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { TransportError } from '../graph/graph-error.js';
import type { ArchivedSpan } from './archived-span.js';
import { newId, newSegmentName, walName } from './file-names.js';
import { use } from './owner.js';
import { writeSegment } from './segment/write-segment.js';
import { SpanList } from './span-list.js';
import { WalWriter } from './wal/wal-writer.js';

/** When held spans become a segment, and how many there may be. */
export interface HeldLimits {
  readonly segmentSpans: number;
  readonly segmentMs: number;
  readonly walBytes: number;
  readonly maxHeldSpans: number;
  readonly maxHeldBytes: number;
}

/** After a segment could not be written it is not tried again for so long. */
const RETRY_MS = 5000;
/** Times a flush writes everything again, when files are taken away. */
const MAX_ATTEMPTS = 5;
/** Spans of a batch when all are written again. */
const REWRITE_SPANS = 10_000;

/** Write spans, at least one, as a segment under a name of its own; the name. */
export const writeSpansTo = (
  directory: string,
  spans: readonly ArchivedSpan[],
  replaces: readonly string[],
): string => {
  let { startUnixNs: start, startUnixNs: end } = spans[0];
  for (const { startUnixNs, endUnixNs } of spans) {
    if (startUnixNs < start) start = startUnixNs;
    if (startUnixNs > end) end = startUnixNs;
    if (endUnixNs > end) end = endUnixNs;
  }
  const name = newSegmentName(start, end);
  writeSegment(join(directory, name), spans, { replaces });
  return name;
};

interface Wal {
  readonly id: string;
  readonly name: string;
  readonly writer: WalWriter;
  readonly release: () => void;
}

/** The spans of one writer. */
export class HeldSpans {
  private spans: ArchivedSpan[] = [];
  private wal: Wal | undefined;
  private heldSince = 0;
  private retryAt = 0;
  private isAbandoned = false;
  /** The held spans as queries see them. */
  list = new SpanList(this.spans);
  /** Times that all held spans became a segment. */
  seals = 0;
  appended = 0;
  /** Times that no segment could be made, and why the last time. */
  failures = 0;
  lastFailure = '';
  refused = 0;

  constructor(
    private readonly directory: string,
    private readonly limits: HeldLimits,
  ) {}

  get count(): number {
    return this.spans.length;
  }

  get walBytes(): number {
    return this.wal?.writer.bytes ?? 0;
  }

  /** How many spans would be taken now. */
  get room(): number {
    const { maxHeldSpans, maxHeldBytes } = this.limits;
    return this.walBytes >= maxHeldBytes ? 0 : maxHeldSpans - this.spans.length;
  }

  /** Identity of the file this writer appends to; undefined while nothing is held. */
  get walId(): string | undefined {
    return this.wal?.id;
  }

  /** Take spans, as many as there is room for; how many were taken, from the first on. Throws when none could be. */
  append(spans: readonly ArchivedSpan[]): number {
    const { room } = this;
    const taken = room >= spans.length ? spans : spans.slice(0, room);
    if (taken.length > 0) {
      if (this.wal === undefined) {
        this.wal = this.newWal();
        this.heldSince = Date.now();
      }
      this.wal.writer.append(taken);
      for (const span of taken) this.spans.push(span);
      this.appended += taken.length;
      if (this.isFull) this.trySeal();
    }
    this.refused += spans.length - taken.length;
    return taken.length;
  }

  /** Resolves when the disk has all spans taken before. */
  async flush(): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const { wal } = this;
      if (this.isAbandoned)
        throw new TransportError(`what is held in ${this.directory} was left in its file when the archive was closed`);
      // Nothing is held: all that was taken is in segments, which are synced.
      if (wal === undefined) return;
      if (!wal.writer.isLost) {
        try {
          await wal.writer.sync();
        } catch (error) {
          if (this.wal === wal) throw error;
        }
        // Another process may have taken the file for a dead one's: then it has all that was in it before, and not what came after.
        if (this.wal === wal && !wal.writer.isLost) return;
      }
      if (this.wal === wal) this.rewrite(wal);
    }
    throw new TransportError(`what is held in ${this.directory} cannot be made sure of: its files are lost at once`);
  }

  /** Once a second: bring what was taken to the disk, show that this writer lives, and make a segment when it is time. */
  async beat(): Promise<void> {
    this.wal?.writer.touch();
    if (this.spans.length > 0 && (this.isFull || Date.now() - this.heldSince >= this.limits.segmentMs)) this.trySeal();
    await this.flush();
  }

  /** Write the held spans as a segment; the write-ahead file is not needed any more. Throws `TransportError` with nothing lost. */
  seal(): void {
    const { wal, spans } = this;
    if (wal === undefined) return;
    try {
      // The segment names the write-ahead file: a crash before that is gone shows nothing twice.
      writeSpansTo(this.directory, spans, [wal.id]);
    } catch (error) {
      this.retryAt = Date.now() + RETRY_MS;
      this.failures++;
      this.lastFailure = String(error);
      throw error;
    }
    this.seals++;
    this.spans = [];
    this.list = new SpanList(this.spans);
    this.wal = undefined;
    this.drop(wal);
  }

  /** Leave what is held to the next one who opens the archive. */
  abandon(): void {
    if (this.wal === undefined) return;
    this.isAbandoned = true;
    this.wal.writer.close();
    this.wal.release();
    this.wal = undefined;
  }

  private get isFull(): boolean {
    return this.spans.length >= this.limits.segmentSpans || this.walBytes >= this.limits.walBytes;
  }

  /** A full disk: the spans stay held, and appending refuses when they are too many. */
  private trySeal(): void {
    if (Date.now() < this.retryAt) return;
    try {
      this.seal();
    } catch {
      // Counted, and tried again later; the spans are in the write-ahead file.
    }
  }

  private newWal(): Wal {
    const id = newId();
    const name = walName(id);
    const path = join(this.directory, name);
    const release = use(path);
    try {
      return { id, name, writer: new WalWriter(path), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Everything held goes into a file of its own again. */
  private rewrite(old: Wal): void {
    const wal = this.newWal();
    try {
      for (let i = 0; i < this.spans.length; i += REWRITE_SPANS)
        wal.writer.append(this.spans.slice(i, i + REWRITE_SPANS));
    } catch (error) {
      this.drop(wal);
      throw error;
    }
    this.wal = wal;
    this.drop(old);
  }

  private drop({ name, writer, release }: Wal): void {
    writer.close();
    release();
    rmSync(join(this.directory, name), { force: true });
  }
}
