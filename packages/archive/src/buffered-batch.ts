// Spans that become one segment: in a write-ahead file of their own, and in memory as the bytes of that file, which queries decode when they ask. Of
// one trace only the frames that may have it are decoded; everything else decodes all, and keeps it as long as there are queries. What a batch took
// must be in the file or refused; the file stays until whoever made the segment drops it.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { sectionReader } from '@spanline/graph/internal';
import { timers } from 'spanline/internal/base';
import type { ArchivedSpan } from 'spanline/internal/record';
import { newId, use, walName } from './directory.js';
import { SpanRows } from './rows/span-rows.js';
import { SpanList } from './span-list.js';
import type { TraceId } from './trace-source.js';
import { lastWordOf } from './values/fields.js';
import { readRows } from './wal/read-spans.js';
import { HEAD_BYTES } from './wal/wal-frames.js';
import { type WalFrame, WalWriter } from './wal/wal-writer.js';

/** The spans of frames, in order. */
const rowsOf = (frames: readonly WalFrame[]): SpanRows => {
  const rows = new SpanRows();
  for (const { bytes } of frames)
    readRows(sectionReader(bytes.subarray(HEAD_BYTES), 'a batch that is held', 'wal'), rows);
  return rows;
};

/** A list of held spans that grows. */
class BufferedList extends SpanList {
  readonly #frames: () => readonly WalFrame[];
  #decoded = 0;

  constructor(frames: () => readonly WalFrame[]) {
    super([]);
    this.#frames = frames;
  }

  override async possible(ids: readonly TraceId[]): Promise<readonly string[]> {
    if (this.#isDecoded) return super.possible(ids);
    const words = new Set<number>();
    for (const { facts } of this.#frames()) for (const word of facts.traceWords) words.add(word);
    return ids.flatMap(({ text }) => (words.has(lastWordOf(text)) ? [text] : []));
  }

  override async traces(ids: readonly string[]): Promise<ReadonlyMap<string, readonly ArchivedSpan[]>> {
    if (this.#isDecoded) return super.traces(ids);
    const words = new Set(ids.map(lastWordOf));
    const frames = this.#frames().filter(({ facts }) => facts.traceWords.some((word) => words.has(word)));
    return new SpanList(rowsOf(frames).spans()).traces(ids);
  }

  protected override index(): void {
    const frames = this.#frames();
    for (const span of rowsOf(frames.slice(this.#decoded)).spans()) this.spans.push(span);
    this.#decoded = frames.length;
    super.index();
  }

  get #isDecoded(): boolean {
    return this.#decoded === this.#frames().length;
  }
}

/** A write-ahead file of this process. */
interface Wal {
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
export class BufferedBatch {
  readonly #directory: string;
  /** The file, which is another one after `rewrite`. */
  wal: Wal;
  #list: BufferedList | undefined;
  #isAsked = false;
  readonly since = timers.wallMs();
  /** Its segment is being written, and may appear at any moment. */
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
  get list(): BufferedList {
    this.#isAsked = true;
    this.#list ??= new BufferedList(() => this.wal.writer.frames);
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
