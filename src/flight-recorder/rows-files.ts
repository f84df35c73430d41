// The files of `file: DIR`: each block as soon as it is made, in files of an eighth of the bound, the oldest deleted. What the kernel has taken
// outlives the process, whatever ends it. Written at once, because what waits for a turn of the event loop is lost when there is none; a
// write that fails is counted and must not stop the recorder.
import { closeSync, openSync, readdirSync, rmSync, writevSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../base/calls/is-alive.js';
import type { Block } from './block.js';
import { blockParts, jsonRecord } from './flight-records.js';
import type { LaneRow } from './lane/lane-row.js';

/** The first record of a file. */
export interface RowsHead {
  readonly kind: 'rows';
  readonly pid: number;
}

/** Rows of the lane since the last record of this kind. */
export interface RowsLane {
  readonly kind: 'lane';
  readonly rows: readonly LaneRow[];
}

/** Traces that must not be shown, whatever the files hold of them. */
export interface RowsCancelled {
  readonly kind: 'cancelled';
  readonly traceIds: readonly string[];
}

const FILES = 8;
/** Cancelled traces that wait for the next write. */
const MOST_WAITING = 1024;
/** Processes that are gone, whose files stay. */
const MOST_LEFT = 4;

const NAME = /^flight-(\d+)-(\d+)-(\d+)\.rows$/;

/** What the name of a file says; undefined for other files. */
export const partsOfName = (name: string) => {
  const [, started, pid, number] = NAME.exec(name) ?? [];
  if (started === undefined) return undefined;
  return { name, started: Number(started), pid: Number(pid), number: Number(number) };
};

export class RowsFiles {
  readonly #directory: string;
  readonly #maxBytes: number;
  #descriptor: number | undefined;
  #bytes = 0;
  #number = 0;
  #cancelled: string[] = [];
  readonly #started = Date.now();
  /** Writes that have failed. */
  failed = 0;

  /** The directory is there. Throws Node's error where it cannot be written to. */
  constructor(directory: string, maxBytes: number) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;

    this.#removeOld();
    this.#next();
  }

  add(block: Block): void {
    this.#write([...this.#takeCancelled(), ...blockParts(block)]);
  }

  addLane(rows: readonly LaneRow[]): void {
    this.#write([...this.#takeCancelled(), jsonRecord({ kind: 'lane', rows } satisfies RowsLane)]);
  }

  /** The trace is not to be shown. Goes with the next write: a service may cancel most of its traces. */
  cancel(traceId: string): void {
    if (this.#cancelled.push(traceId) >= MOST_WAITING) this.writeWaiting();
  }

  /** Write what waits for a write. */
  writeWaiting(): void {
    const record = this.#takeCancelled();
    if (record.length > 0) this.#write(record);
  }

  close(): void {
    this.writeWaiting();
    this.#closeFile();
  }

  /** The record of the traces that were cancelled since the last one. */
  #takeCancelled(): readonly Uint8Array[] {
    if (this.#cancelled.length === 0) return [];
    const traceIds = this.#cancelled;
    this.#cancelled = [];
    return [jsonRecord({ kind: 'cancelled', traceIds } satisfies RowsCancelled)];
  }

  #closeFile(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #write(parts: readonly Uint8Array[]): void {
    try {
      if (this.#bytes > this.#maxBytes / FILES) this.#next();
      if (this.#descriptor === undefined) return;
      const wanted = parts.reduce((sum, { length }) => sum + length, 0);
      const written = writevSync(this.#descriptor, parts);
      this.#bytes += written;
      // What follows the torn end of a file would not be found.
      if (written < wanted) throw new Error('the file took a part only');
    } catch {
      this.failed++;
      this.#bytes = Number.POSITIVE_INFINITY;
    }
  }

  #next(): void {
    this.#closeFile();
    this.#number++;
    const name = (number: number): string =>
      join(this.#directory, `flight-${this.#started}-${process.pid}-${number}.rows`);
    if (this.#number > FILES) rmSync(name(this.#number - FILES), { force: true });
    this.#descriptor = openSync(name(this.#number), 'wx', 0o600);
    this.#bytes = 0;
    this.#write([jsonRecord({ kind: 'rows', pid: process.pid } satisfies RowsHead)]);
  }

  #removeOld(): void {
    const files = readdirSync(this.#directory)
      .map(partsOfName)
      .filter((file) => file !== undefined);
    const left = files.filter(({ pid }) => !isAlive(pid));
    const starts = [...new Set(left.map(({ started }) => started))].sort((a, b) => b - a);
    for (const { name, started } of left) {
      if (starts.indexOf(started) >= MOST_LEFT) rmSync(join(this.#directory, name), { force: true });
    }
  }
}
