// Spans of a write-ahead file of this process as queries see them: decoded when they are asked for. Of one trace only the frames that may
// have it are; everything else decodes all, and keeps it as long as there are queries.
import { sectionReader } from '../container/layout.js';
import type { ArchivedSpan } from '../trace/archived-span.js';
import { SpanList } from './span-list.js';
import type { TraceId } from './trace-source.js';
import { readSpans } from './wal/span-bytes.js';
import { HEAD_BYTES } from './wal/wal-frames.js';
import type { WalFrame } from './wal/wal-writer.js';

const decode = ({ bytes }: WalFrame): ArchivedSpan[] =>
  readSpans(sectionReader(bytes.subarray(HEAD_BYTES), 'a batch that is held', 'wal'));

/** The spans of frames, in order. */
export const spansOf = (frames: readonly WalFrame[]): ArchivedSpan[] => {
  const spans: ArchivedSpan[] = [];
  for (const frame of frames) for (const span of decode(frame)) spans.push(span);
  return spans;
};

const lastWord = (id: string): number => Number.parseInt(id.slice(24), 16);

/** A list of held spans that grows. */
export class HeldList extends SpanList {
  private decoded = 0;

  constructor(private readonly frames: () => readonly WalFrame[]) {
    super([]);
  }

  override async possible(ids: readonly TraceId[]): Promise<readonly string[]> {
    if (this.isDecoded) return super.possible(ids);
    const words = new Set<number>();
    for (const { traceWords } of this.frames()) for (const word of traceWords) words.add(word);
    return ids.flatMap(({ text }) => (words.has(lastWord(text)) ? [text] : []));
  }

  override async traces(ids: readonly string[]): Promise<ReadonlyMap<string, readonly ArchivedSpan[]>> {
    if (this.isDecoded) return super.traces(ids);
    const words = new Set(ids.map(lastWord));
    const frames = this.frames().filter(({ traceWords }) => traceWords.some((word) => words.has(word)));
    return new SpanList(spansOf(frames)).traces(ids);
  }

  protected override index(): void {
    const frames = this.frames();
    for (; this.decoded < frames.length; this.decoded++)
      for (const span of decode(frames[this.decoded])) this.spans.push(span);
    super.index();
  }

  private get isDecoded(): boolean {
    return this.decoded === this.frames().length;
  }
}
