// The files of `file: DIR`: each block as soon as it is made, in files of an eighth of the bound, the oldest deleted, and a mapped file that has what is
// in no block yet. What the kernel has taken outlives the process, whatever ends it. Written at once, because what waits for a turn of the event
// loop is lost when there is none; a write that fails is counted and must not stop the recorder.
import { closeSync, openSync, readdirSync, rmSync, writevSync } from 'node:fs';
import { join } from 'node:path';
import { isAliveSince } from '../base/calls/is-alive.js';
import { timers } from '../base/calls/timers.js';
import { wrongOption } from '../base/errors.js';
import type { ClockAnchor } from '../clock/index.js';
import type { Resource } from '../collector/reporter.js';
import type { Block } from './block.js';
import { blockParts, jsonRecord } from './flight-records.js';
import { MAX_OPEN_SPANS } from './open-spans.js';
import { type TailBlocks, TailFile } from './tail/tail-file.js';
import type { TimelineRow } from './timeline/timeline-row.js';

/** What a recorder has beside its spans. */
interface KnownOfRows {
  readonly resource: Resource;
  /** How ticks become Unix time; blocks have newer ones. */
  readonly anchor: ClockAnchor;
  /** Since when there is a timeline, in microseconds of Unix time. */
  readonly timelineFromUs?: number | undefined;
}

/** The first record of a file. */
export interface RowsHead extends KnownOfRows {
  readonly kind: 'rows';
  readonly pid: number;
}

/** Rows of the timeline since the last record of this kind. */
export interface RowsTimeline {
  readonly kind: 'timeline';
  readonly rows: readonly TimelineRow[];
}

/** Traces that must not be shown, whatever the files hold of them. */
export interface RowsCancelled {
  readonly kind: 'cancelled';
  readonly traceIds: readonly string[];
}

/** What the recorder does for its files. */
export interface RowsSource {
  known(): KnownOfRows;
  /** Make blocks of all rows that are in none. */
  makeBlocks(): void;
}

const FILES = 8;
/** Cancelled traces that wait for the next write. */
const MAX_WAITING = 1024;
/** Processes that are gone, whose files stay. */
const MAX_LEFT = 4;

const NAME = /^flight-(\d+)-(\d+)-(?:(\d+)\.rows|tail)$/;

/** What the name of a file contains; undefined for other files. The mapped one has the number 0. */
export const partsOfName = (name: string) => {
  const [, started, pid, number = '0'] = NAME.exec(name) ?? [];
  if (started === undefined) return undefined;
  return { name, started: Number(started), pid: Number(pid), number: Number(number) };
};

/** A file by the parts of its name. */
export type RowsFileName = NonNullable<ReturnType<typeof partsOfName>>;

/** Whether the process that has written a file is still there. */
export const isOfLiving = ({ pid, started }: RowsFileName): boolean => isAliveSince(pid, started);

export class RowsFiles implements TailBlocks {
  readonly #directory: string;
  readonly #maxBytes: number;
  readonly #source: RowsSource;
  readonly #started = timers.wallMs();
  /** What is in no block yet; undefined without the addon. */
  readonly tail: TailFile | undefined;
  #descriptor: number | undefined;
  #bytes = 0;
  #number = 0;
  #cancelled: string[] = [];
  #failed = 0;
  #isWriting = false;

  /** The directory is there. Throws `ERR_SPANLINE_OPTION` where it cannot be written to, or its disk is full. */
  constructor(directory: string, maxBytes: number, source: RowsSource) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
    this.#source = source;

    try {
      this.#removeOld();
      this.#next();
      this.tail = TailFile.make(this.#pathOf('tail'), MAX_OPEN_SPANS, this);
    } catch (cause) {
      this.#removeOwn();
      const { message } = cause as Error;
      throw wrongOption(
        `Option "flightRecorder.file": ${message}. Name a directory that may be written to, on a disk with room`,
      );
    }
  }

  /** Writes that have failed, and names that there was no room for. */
  get failed(): number {
    return this.#failed + (this.tail?.refused ?? 0);
  }

  add(block: Block): void {
    this.#write([...this.#takeCancelled(), ...blockParts(block)]);
  }

  /** May be called in the middle of another write: then these rows come with the next. */
  addTimeline(rows: readonly TimelineRow[]): void {
    if (!this.#isWriting)
      this.#write([...this.#takeCancelled(), jsonRecord({ kind: 'timeline', rows } satisfies RowsTimeline)]);
  }

  /** The trace is not to be shown. Goes with the next write: a service may cancel most of its traces. */
  cancel(traceId: string): void {
    if (this.#cancelled.push(traceId) >= MAX_WAITING) this.writeWaiting();
  }

  /** Write what waits for a write. */
  writeWaiting(): void {
    this.tail?.live();
    const record = this.#takeCancelled();
    if (record.length > 0) this.#write(record);
  }

  make(): void {
    this.#source.makeBlocks();
  }

  made(): void {
    this.writeWaiting();
  }

  close(): void {
    this.writeWaiting();
    this.#closeFile();
    // All rows are in blocks, and what is open goes on without a recorder.
    if (this.tail !== undefined) rmSync(this.#pathOf('tail'), { force: true });
  }

  /** The record of the traces that were cancelled since the last one. */
  #takeCancelled(): readonly Uint8Array[] {
    if (this.#cancelled.length === 0) return [];
    const traceIds = this.#cancelled;
    this.#cancelled = [];
    return [jsonRecord({ kind: 'cancelled', traceIds } satisfies RowsCancelled)];
  }

  #pathOf(last: string): string {
    return join(this.#directory, `flight-${this.#started}-${process.pid}-${last}`);
  }

  #closeFile(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #write(parts: readonly Uint8Array[]): void {
    this.#isWriting = true;
    try {
      if (this.#bytes > this.#maxBytes / FILES) this.#next();
      if (this.#descriptor === undefined) return;
      const wanted = parts.reduce((sum, { length }) => sum + length, 0);
      const written = writevSync(this.#descriptor, parts);
      this.#bytes += written;
      // What follows the torn end of a file would not be found.
      if (written < wanted) throw new Error('the file took a part only');
    } catch {
      this.#failed++;
      this.#bytes = Number.POSITIVE_INFINITY;
    }
    this.#isWriting = false;
  }

  #next(): void {
    this.#closeFile();
    this.#number++;
    if (this.#number > FILES) rmSync(this.#pathOf(`${this.#number - FILES}.rows`), { force: true });
    this.#descriptor = openSync(this.#pathOf(`${this.#number}.rows`), 'wx', 0o600);
    this.#bytes = 0;
    this.#write([jsonRecord({ kind: 'rows', pid: process.pid, ...this.#source.known() } satisfies RowsHead)]);
  }

  // Nothing of a recorder that does not start stays.
  #removeOwn(): void {
    this.#closeFile();
    if (this.#number > 0) rmSync(this.#pathOf('1.rows'), { force: true });
  }

  #removeOld(): void {
    const files = readdirSync(this.#directory)
      .map(partsOfName)
      .filter((file) => file !== undefined);
    // A process in a container has the number of the one before it.
    const left = files.filter((file) => file.pid === process.pid || !isOfLiving(file));
    const starts = [...new Set(left.map(({ started }) => started))].sort((a, b) => b - a);
    for (const { name, started } of left) {
      if (starts.indexOf(started) >= MAX_LEFT) rmSync(join(this.#directory, name), { force: true });
    }
  }
}
