// Spans of a write-ahead file of this process as queries see them: decoded when they are asked for. Of one trace only the frames that may
// have it are; everything else decodes all, and keeps it as long as there are queries.
import { sectionReader } from '@spanline/graph/internal';
import type { ArchivedSpan } from 'spanline/internal/record';
import { SpanRows } from './rows/span-rows.js';
import { SpanList } from './span-list.js';
import type { TraceId } from './trace-source.js';
import { readRows } from './wal/read-spans.js';
import { HEAD_BYTES } from './wal/wal-frames.js';
import type { WalFrame } from './wal/wal-writer.js';

/** The spans of frames, in order. */
export const rowsOf = (frames: readonly WalFrame[]): SpanRows => {
  const rows = new SpanRows();
  for (const { bytes } of frames)
    readRows(sectionReader(bytes.subarray(HEAD_BYTES), 'a batch that is held', 'wal'), rows);
  return rows;
};

const lastWord = (id: string): number => Number.parseInt(id.slice(24), 16);

/** A list of held spans that grows. */
export class HeldList extends SpanList {
  readonly #frames: () => readonly WalFrame[];
  #decoded = 0;

  constructor(frames: () => readonly WalFrame[]) {
    super([]);
    this.#frames = frames;
  }

  override async possible(ids: readonly TraceId[]): Promise<readonly string[]> {
    if (this.#isDecoded) return super.possible(ids);
    const words = new Set<number>();
    for (const { traceWords } of this.#frames()) for (const word of traceWords) words.add(word);
    return ids.flatMap(({ text }) => (words.has(lastWord(text)) ? [text] : []));
  }

  override async traces(ids: readonly string[]): Promise<ReadonlyMap<string, readonly ArchivedSpan[]>> {
    if (this.#isDecoded) return super.traces(ids);
    const words = new Set(ids.map(lastWord));
    const frames = this.#frames().filter(({ traceWords }) => traceWords.some((word) => words.has(word)));
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
