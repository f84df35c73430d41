// Spans that become one segment: in memory, and in a write-ahead file of their own. What it took must be in the file or refused; the file
// stays until whoever made the segment drops it.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ArchivedSpan } from '../trace/archived-span.js';
import { newId, walName } from './file-names.js';
import { use } from './owner.js';
import { SpanList } from './span-list.js';
import { WalWriter } from './wal/wal-writer.js';

/** A write-ahead file of this process. */
export interface Wal {
  readonly id: string;
  readonly path: string;
  readonly writer: WalWriter;
  readonly release: () => void;
}

/** Spans written again at a time. */
const REWRITE_SPANS = 10_000;

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
  readonly #spans: ArchivedSpan[] = [];
  /** The file, which is another one after `rewrite`. */
  wal: Wal;
  /** The spans as queries see them. */
  readonly list = new SpanList(this.#spans);
  readonly since = Date.now();
  /** The worker has the file, which is whole: its segment may appear at any moment. */
  isHandedOver = false;

  /** Throws `TransportError` when there can be no file. */
  constructor(directory: string) {
    this.#directory = directory;
    this.wal = newWal(directory);
  }

  get spans(): readonly ArchivedSpan[] {
    return this.#spans;
  }

  /** Take spans: all, or none when it throws. */
  append(spans: readonly ArchivedSpan[]): void {
    this.wal.writer.append(spans);
    for (const span of spans) this.#spans.push(span);
  }

  /** Everything goes into a new file. */
  rewrite(): void {
    const wal = newWal(this.#directory);
    try {
      for (let i = 0; i < this.#spans.length; i += REWRITE_SPANS)
        wal.writer.append(this.#spans.slice(i, i + REWRITE_SPANS));
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
