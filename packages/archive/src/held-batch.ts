// Spans that become one segment: in a write-ahead file of their own, and in memory as the bytes of that file. What it took must be in the
// file or refused; the file stays until whoever made the segment drops it.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { timers } from 'spanline/internal/base';
import { newId, walName } from './file-names.js';
import { HeldList, rowsOf } from './held-list.js';
import { use } from './owner.js';
import type { SpanRows } from './rows/span-rows.js';

import { WalWriter } from './wal/wal-writer.js';

/** A write-ahead file of this process. */
export interface Wal {
  readonly id: string;
  readonly path: string;
  readonly writer: WalWriter;
  readonly release: () => void;
}

const newWal = (directory: string): Wal => {
  const id = newId();
  const path = join(directory, walName(id));
  const release = use(path);
  try {
    return { id, path, writer: new WalWriter(path), release };
  } catch (error) {
    release();
    throw error;
  }
};

const closeWal = ({ writer, release }: Wal): void => {
  writer.close();
  release();
};

const dropWal = (wal: Wal): void => {
  closeWal(wal);
  rmSync(wal.path, { force: true });
};

/** The spans of one write-ahead file. */
export class HeldBatch {
  readonly #directory: string;
  /** The file, which is another one after `rewrite`. */
  wal: Wal;
  #list: HeldList | undefined;
  #isAsked = false;
  readonly since = timers.wallMs();
  /** The worker has the file, which is whole: its segment may appear at any moment. */
  isHandedOver = false;

  /** Throws `TransportError` when there can be no file. */
  constructor(directory: string) {
    this.#directory = directory;
    this.wal = newWal(directory);
  }

  /** The number of its spans. */
  get count(): number {
    return this.wal.writer.spans;
  }

  /** The spans as queries see them. */
  get list(): HeldList {
    this.#isAsked = true;
    this.#list ??= new HeldList(() => this.wal.writer.frames);
    return this.#list;
  }

  /** Its spans, in order. */
  rows(): SpanRows {
    return rowsOf(this.wal.writer.frames);
  }

  /** Forget what was decoded for queries, unless there were any since the last time. */
  forget(): void {
    if (!this.#isAsked) this.#list = undefined;
    this.#isAsked = false;
  }

  /** Everything goes into a new file. */
  rewrite(): void {
    const wal = newWal(this.#directory);
    try {
      wal.writer.copy(this.wal.writer);
    } catch (error) {
      dropWal(wal);
      throw error;
    }
    const old = this.wal;
    this.wal = wal;
    dropWal(old);
  }

  /** The spans are safe elsewhere. */
  drop(): void {
    dropWal(this.wal);
  }

  /** Leave the file to the next one who opens the archive. */
  abandon(): void {
    closeWal(this.wal);
  }
}
