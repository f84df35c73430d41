// Requests as they arrive in an archive, whoever writes them, each reported once: spans with which work begins in a process. Write-ahead files are
// read as far as they were written, and stay open: what was written between the last look and the moment when a segment took a file's place is still
// read. What is in a segment is read only where its write-ahead file was never seen: before the first look, and of programs that live shorter than
// from one look to the next. It must hold no spans, and decode nothing of spans that are no requests but what tells them apart.

import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { GraphError } from '@spanline/graph';
import { isGone } from 'spanline/internal/base';
import { type ArchivedKind, type ArchivedSpan, hasRemoteParent } from 'spanline/internal/record';
import { type OwnedName, type SegmentName, VanishedError } from './directory.js';
import type { SpanRows } from './rows/span-rows.js';
import type { SegmentSet } from './segment-set.js';
import { FLAGS_KEY } from './stored-extras.js';
import { httpStatusOf, serviceOf } from './trace-facts.js';
import { KINDS } from './values/fields.js';
import { WalTail } from './wal/wal-frames.js';

/** A span with which work begins in a process: it has no parent, or one in another process, or it serves or consumes. */
export interface Request {
  readonly traceId: string;
  readonly name: string;
  readonly service: string;
  readonly startUnixNs: bigint;
  readonly endUnixNs: bigint;
  /** By its own status. */
  readonly isFailed: boolean;
  /** Its status code of HTTP. */
  readonly httpStatus?: number;
  /** The trace begins with it. */
  readonly isRoot: boolean;
}

const SERVING: ReadonlySet<ArchivedKind> = new Set(['server', 'consumer']);

const isRequest = (isRoot: boolean, kind: ArchivedKind, flags: number): boolean =>
  isRoot || SERVING.has(kind) || hasRemoteParent(flags);

const requestOf = (span: ArchivedSpan): Request => ({
  traceId: span.traceId,
  name: span.name,
  service: serviceOf(span),
  startUnixNs: span.startUnixNs,
  endUnixNs: span.endUnixNs,
  isFailed: span.status.code === 'error',
  httpStatus: httpStatusOf(span),
  isRoot: span.parentSpanId === '',
});

const flagsIn = (rows: SpanRows, row: number): number => {
  for (let i = rows.firstProperty[row]; i < rows.firstProperty[row + 1]; i++)
    if (rows.texts[rows.keys[i]] === FLAGS_KEY) return Number(rows.values[i]);
  return 0;
};

/** The spans among rows that are requests. */
function* requestSpans(rows: SpanRows): Generator<ArchivedSpan, undefined, void> {
  for (let row = 0; row < rows.count; row++) {
    if (isRequest(rows.hasParent[row] === 0, KINDS[rows.kind[row]], flagsIn(rows, row))) yield rows.span(row);
  }
}

/** A write-ahead file that stays open. */
interface FollowedWal {
  readonly name: string;
  readonly path: string;
  readonly descriptor: number;
  readonly tail: WalTail;
}

/** Spans in segments that the first look reads at most. */
const FIRST_SPANS = 100_000;
/** Names of files that are remembered: more than come in a day. */
const MAX_KNOWN = 20_000;

/** Follows one archive. `close` it when nobody looks any more. */
export class Arrivals {
  readonly #set: SegmentSet;
  readonly #firstSpans: number;
  readonly #followed = new Map<string, FollowedWal>();
  /** Identities of write-ahead files and names of segments whose spans were told, or are too old to be. */
  readonly #known = new Set<string>();
  #isFirst = true;
  /** Unix milliseconds: of what ended before, not all was told, because the first look reads a bounded number of spans. 0: all. */
  sinceMs = 0;

  constructor(set: SegmentSet, firstSpans = FIRST_SPANS) {
    this.#set = set;
    this.#firstSpans = firstSpans;
  }

  /** Files of the archive that cannot be read, or not whole. */
  get damagedFiles(): number {
    return this.#set.damaged().length;
  }

  /** Tell the requests that came since the last call; at first those that ended after `fromMs`, Unix milliseconds, and perhaps some before. */
  async look(fromMs: number, take: (request: Request) => void): Promise<void> {
    const { segments, wals } = await this.#set.list();
    this.#readFollowed(wals, take);
    // A write-ahead file that a segment stands for already is not in the listing: the segment is read.
    for (const wal of wals) if (!this.#followed.has(wal.id)) this.#follow(wal, take);
    await this.#readUnseen(segments, fromMs, take);
    this.#isFirst = false;
    for (const name of this.#known) {
      if (this.#known.size <= MAX_KNOWN) break;
      this.#known.delete(name);
    }
  }

  close(): void {
    for (const { descriptor } of this.#followed.values()) closeSync(descriptor);
    this.#followed.clear();
  }

  #readFollowed(wals: readonly OwnedName[], take: (request: Request) => void): void {
    const present = new Set(wals.map(({ id }) => id));
    for (const [id, wal] of this.#followed) {
      this.#read(wal, take);
      if (present.has(id)) continue;
      closeSync(wal.descriptor);
      this.#followed.delete(id);
      this.#known.add(id);
    }
  }

  #follow({ id, name }: OwnedName, take: (request: Request) => void): void {
    try {
      const path = join(this.#set.directory, name);
      const wal = { name, path, descriptor: openSync(path, 'r'), tail: new WalTail() };
      this.#followed.set(id, wal);
      this.#read(wal, take);
    } catch (error) {
      // A segment of it is there now.
      if (!isGone(error)) this.#set.report(name, { code: 'ERR_SPANLINE_GRAPH_TRANSPORT', message: String(error) });
    }
  }

  #read({ name, path, descriptor, tail }: FollowedWal, take: (request: Request) => void): void {
    try {
      const rows = tail.rows(descriptor, path);
      if (rows !== undefined) for (const span of requestSpans(rows)) take(requestOf(span));
    } catch (error) {
      if (!(error instanceof GraphError)) throw error;
      this.#set.report(name, error);
    }
    if (tail.damage !== undefined) this.#set.report(name, tail.damage);
  }

  async #readUnseen(segments: readonly SegmentName[], fromMs: number, take: (request: Request) => void): Promise<void> {
    let left = this.#isFirst ? this.#firstSpans : Number.POSITIVE_INFINITY;
    // The newest come first.
    for (const { name, endMs } of segments) {
      if (this.#known.has(name)) continue;
      const card = endMs < fromMs ? undefined : await this.#set.card(name).catch(() => undefined);
      this.#known.add(name);
      if (card === undefined) continue;
      const { replaces } = card.info;
      if (!this.#isFirst && replaces.some((other) => this.#known.has(other) || this.#followed.has(other))) continue;
      if (left > 0) left = await this.#readSegment(name, fromMs, left, take);
      if (left <= 0) this.sinceMs = Math.max(this.sinceMs, endMs);
    }
  }

  /** Tell what a segment has of the time from `fromMs` on; how many of the spans that may be read are left, 0 when they were too few. */
  async #readSegment(name: string, fromMs: number, max: number, take: (request: Request) => void): Promise<number> {
    let left = max;
    const fromUnixNs = BigInt(Math.floor(fromMs)) * 1_000_000n;
    try {
      await this.#set.use(name, async (segment, onDamage) => {
        for await (const ids of segment.traceIds({ fromUnixNs }, { onDamage })) {
          if (left <= 0) return;
          for (const spans of (await segment.traces(ids, { onDamage })).values()) {
            left -= spans.length;
            for (const span of spans)
              if (isRequest(span.parentSpanId === '', span.kind, span.flags ?? 0)) take(requestOf(span));
          }
        }
      });
    } catch (error) {
      // It was merged meanwhile, or deleted.
      if (!(error instanceof VanishedError)) throw error;
    }
    return Math.max(0, left);
  }
}
