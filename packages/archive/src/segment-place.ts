// Where the segments of an archive are, as those see it who ask them: what is there now, how one is opened, what is known of one without opening it.
// Whoever asks must not see a difference but in time: a place gives the segments of one moment, and says of one that went away that it is gone.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlockCache } from '@spanline/graph';
import { isGone } from 'spanline/internal/base';
import type { DamagedSegment } from './archive-options.js';
import { type DirectoryNames, DirectoryReader } from './directory.js';
import { Segment } from './segment/segment.js';
import type { SegmentInfo } from './segment/write-segment.js';

/** What is known of a segment without opening it. */
export interface SegmentCard {
  readonly info: SegmentInfo;
  readonly mayHave: (traceId: Uint8Array) => boolean;
}

/** Where segments are. */
export interface SegmentPlace {
  /** For messages: a directory, or the address of a bucket. */
  readonly name: string;
  /** Of the write-ahead files that it lists. */
  readonly directory: string;
  /** How many segments a query asks at a time: more than one where it waits for the answers, and not for this thread. */
  readonly parallel: number;
  /** What is there now; the same object while it is the same. No name comes again once it is gone. */
  list(): Promise<DirectoryNames>;
  /** Open one of those that were listed. */
  open(name: string, cache: BlockCache): Promise<Segment>;
  /** What is known of a segment that was listed. */
  card?(name: string): SegmentCard | undefined;
  /** Whether an error of a segment is that it is not there any more: then the place is listed again. */
  isGone(name: string, error: unknown): boolean;
  /** What is wrong with the place itself, while the rest answers. */
  faults?(): readonly DamagedSegment[];
  /** Bytes of files that are there. */
  bytesOf(names: readonly string[]): Promise<number>;
}

/** A local directory. */
export class DirectoryPlace implements SegmentPlace {
  readonly parallel: number = 1;
  readonly #reader: DirectoryReader;

  /** With `mayBeMissing` a directory that is not there has no files. */
  constructor(
    readonly directory: string,
    mayBeMissing = false,
  ) {
    this.#reader = new DirectoryReader(directory, mayBeMissing);
  }

  get name(): string {
    return this.directory;
  }

  list(): Promise<DirectoryNames> {
    return this.#reader.list();
  }

  open(name: string, cache: BlockCache): Promise<Segment> {
    return Segment.open(join(this.directory, name), { cache });
  }

  isGone(_name: string, error: unknown): boolean {
    return isGone(error);
  }

  async bytesOf(names: readonly string[]): Promise<number> {
    const sizes = await Promise.all(
      names.map((name) =>
        stat(join(this.directory, name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  }
}
