// An unsorted segment, open for reading: batches of spans as they came. What is small of it is read once; a trace costs the blocks that may have it.
// Whoever asks for more gets all of it sorted, in memory: the same spans, found by the same code as those of a sorted file. Damage spoils one block.

import { isDeepStrictEqual } from 'node:util';
import { type BlockRef, type Container, CorruptError, GraphError } from '@spanline/graph';
import { checkForm, sectionReader } from '@spanline/graph/internal';
import type { ArchivedSpan } from 'spanline/internal/record';
import { SpanRows } from '../rows/span-rows.js';
import { rootFirst } from '../trace-trees.js';
import { hasNumber, lastWordOf, readTime } from '../values/fields.js';
import { readFrames } from '../wal/wal-frames.js';
import { report } from './find-traces.js';
import { bySize, SegmentSection } from './layout.js';
import { eachOrDamage, guarded, type SegmentReadOptions, segmentInfo } from './segment-file.js';
import { decodeSummary, OperationList } from './segment-summary.js';
import { StringTable, serviceOf } from './span-tables.js';
import type { SegmentInfo } from './write-segment.js';

/** Bytes of a row of the table at least. */
const MIN_ROW_BYTES = 25;

interface Block extends BlockRef {
  readonly spans: number;
  readonly startUnixNs: bigint;
  readonly endUnixNs: bigint;
  /** The last words of the ids of its traces, ascending. */
  readonly words: Uint32Array;
}

const lastWordOfBytes = (traceId: Uint8Array): number =>
  ((traceId[12] << 24) | (traceId[13] << 16) | (traceId[14] << 8) | traceId[15]) >>> 0;

/** Blocks of the table, each with the words of its traces. */
const decodeTable = (table: Buffer, words: Buffer, container: Container): Block[] => {
  const { name } = container.transport;
  const reader = sectionReader(table, `the table of batches of ${name}`, 'batchTable');
  const wordReader = sectionReader(words, `the traces of ${name}`, 'traceWords');
  const { offset: start, storedLength } = container.need(SegmentSection.batches);
  const count = reader.varint();
  if (count * MIN_ROW_BYTES > reader.left) throw reader.corrupt('is too short');
  let offset = start;
  const blocks = Array.from({ length: count }, (_, block): Block => {
    const spans = reader.varint();
    const traces = reader.varint();
    if (traces * 4 > wordReader.left) throw wordReader.corrupt('is too short');
    const known = new Uint32Array(traces);
    for (let i = 0; i < traces; i++) known[i] = wordReader.uint32();
    const one = {
      spans,
      startUnixNs: readTime(reader),
      endUnixNs: readTime(reader),
      words: known.sort(),
      offset,
      storedLength: reader.varint(),
      inflatedLength: reader.varint(),
      codec: reader.byte(),
      crc: reader.uint32(),
      section: SegmentSection.batches,
      block,
    };
    offset += one.storedLength;
    return one;
  });
  reader.end();
  wordReader.end();
  if (offset !== start + storedLength) throw reader.corrupt('does not describe all batches');
  return blocks;
};

/** An unsorted segment. */
export class UnsortedFile {
  readonly info: SegmentInfo;
  readonly #container: Container;
  readonly #blocks: readonly Block[];

  private constructor(container: Container, blocks: readonly Block[], info: SegmentInfo) {
    this.#container = container;
    this.#blocks = blocks;
    this.info = info;
  }

  /** Read what is small; `notes` are those of the file. */
  static async open(
    container: Container,
    notes: Readonly<Record<string, string>>,
    options: SegmentReadOptions,
  ): Promise<UnsortedFile> {
    const { batchTable, traceWords, summary } = SegmentSection;
    const entries = [batchTable, traceWords, summary].map((id) => container.need(id));
    const [table, words, summaryBytes] = await container.read(entries, options);
    const { name } = container.transport;
    const blocks = decodeTable(table, words, container);
    const known = decodeSummary(sectionReader(summaryBytes, `the summary of ${name}`, 'summary'), new StringTable([]));
    if (blocks.reduce((sum, { spans }) => sum + spans, 0) !== known.spanCount)
      throw new CorruptError(`${name} has other spans than its summary says`, 'summary');
    return new UnsortedFile(container, blocks, segmentInfo(known, notes, container));
  }

  get name(): string {
    return this.#container.transport.name;
  }

  /** Whether a trace may be there, of the 16 bytes of its id; needs no open file. */
  get filter(): (traceId: Uint8Array) => boolean {
    const words = this.#blocks.map((block) => block.words);
    return (traceId) => {
      const word = lastWordOfBytes(traceId);
      return words.some((some) => hasNumber(some, word));
    };
  }

  /** The last words of the ids of its traces, some more than once. */
  *traceWords(): Generator<number> {
    for (const { words } of this.#blocks) yield* words;
  }

  /** The traces that are there of those asked for, out of the blocks that may have them. */
  async traces(ids: readonly string[], options: SegmentReadOptions = {}): Promise<Map<string, ArchivedSpan[]>> {
    const words = ids.map(lastWordOf);
    const blocks = this.#blocks.filter((block) => words.some((word) => hasNumber(block.words, word)));
    const rows = new SpanRows();
    for (const error of await this.#read(blocks, rows, options)) report(error, undefined, options);
    const byTrace = new Map<string, ArchivedSpan[]>(ids.map((id) => [id, []]));
    // Most of a block is of other traces: no spans are made of their rows.
    const lists = Array.from({ length: rows.traces.count }, (_, trace) => byTrace.get(rows.traces.text(trace)));
    for (let row = 0; row < rows.count; row++) lists[rows.trace[row]]?.push(rows.span(row));
    return new Map(
      [...byTrace].flatMap(([id, spans]) => (spans.length === 0 ? [] : [[id, rootFirst(spans)] as const])),
    );
  }

  /** Append all spans in order; gives what of the file is damaged, and left out. */
  addTo(rows: SpanRows): Promise<GraphError[]> {
    return this.#read(this.#blocks, rows);
  }

  /** What is damaged, or said of the spans and not so. */
  async faults(options?: SegmentReadOptions): Promise<GraphError[]> {
    const faults: GraphError[] = [];
    const list = new OperationList();
    for (const block of this.#blocks) {
      const rows = new SpanRows();
      const damage = await this.#read([block], rows, options);
      faults.push(...damage);
      if (damage.length > 0) continue;
      if (!isDescribed(block, rows)) faults.push(this.#corrupt(block, 'is described otherwise'));
      for (const span of rows.spans()) list.add(serviceOf(span.resource), span);
    }
    if (faults.length > 0) return faults;
    const { services, operations, listsAllOperations } = this.info;
    if (isDeepStrictEqual(list.finish(), { services, operations, listsAllOperations })) return [];
    return [new CorruptError(`${this.name} describes its services otherwise than its spans do`, 'summary')];
  }

  /** Append the spans of blocks; what is damaged is left out, and given. */
  async #read(blocks: readonly Block[], rows: SpanRows, { signal }: SegmentReadOptions = {}): Promise<GraphError[]> {
    const damage: GraphError[] = [];
    const sound = blocks.filter((block) => {
      const place = { file: this.name, section: 'batches', block: block.block };
      const error = guarded(() => checkForm(block, place, this.#container.maxBlockBytes));
      if (error !== undefined) damage.push(error);
      return error === undefined;
    });
    // What lies between blocks is in memory too.
    for (const stretches of bySize(stretchesOf(sound), ({ range }) => range.length, BATCH_BYTES)) {
      const ranges = stretches.map(({ range }) => range);
      const [stored] = await eachOrDamage([ranges], async ([all]) => [
        await this.#container.readStored(all, { signal }),
      ]);
      if (stored instanceof GraphError) {
        damage.push(stored);
        continue;
      }
      stretches.forEach(({ range, blocks: some }, i) => {
        for (const block of some) {
          const start = block.offset - range.offset;
          const bytes = stored[i].subarray(start, start + block.storedLength);
          const error = guarded(() => this.#add(block, bytes, rows));
          if (error !== undefined) damage.push(error);
        }
      });
    }
    return damage;
  }

  /** Append the spans of a block, of which these are the bytes; gives what of it is damaged. */
  #add(block: Block, stored: Buffer, rows: SpanRows): GraphError | undefined {
    let bytes: Buffer;
    try {
      bytes = this.#container.restoreBlock(block, stored);
    } catch (error) {
      if (!(error instanceof CorruptError)) throw error;
      return this.#corrupt(block, 'is damaged; the others are read', error);
    }
    const before = rows.count;
    const { end, damagedBytes, tornBytes } = readFrames(bytes, 0, this.name, rows);
    const isWhole = end === bytes.length && damagedBytes + tornBytes === 0 && rows.count - before === block.spans;
    return isWhole ? undefined : this.#corrupt(block, 'has bytes that are no spans; the others are read');
  }

  #corrupt({ block }: Block, what: string, cause?: Error): CorruptError {
    return new CorruptError(`block ${block} of batches of ${this.name} ${what}`, 'batches', block, { cause });
  }
}

/** Blocks that lie nearer are read in one stretch: on a link that is far away that costs less than another request. */
const STRETCH_BYTES = 1024 * 1024;
/** Bytes read at a time, about. */
const BATCH_BYTES = 8 * 1024 * 1024;

/** Blocks, one behind the other, that are read as one range. */
interface Stretch {
  readonly range: { readonly offset: number; readonly length: number };
  readonly blocks: readonly Block[];
}

/** Blocks, ascending, in stretches. */
const stretchesOf = (blocks: readonly Block[]): Stretch[] => {
  const stretches: Block[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const block of blocks) {
    if (block.offset + block.storedLength > end) {
      stretches.push([]);
      end = block.offset + Math.max(STRETCH_BYTES, block.storedLength);
    }
    stretches[stretches.length - 1].push(block);
  }
  return stretches.map((some) => {
    const [first, last] = [some[0], some[some.length - 1]];
    return { range: { offset: first.offset, length: last.offset + last.storedLength - first.offset }, blocks: some };
  });
};

/** Whether what is said of a block is so: a reader passes it over by that. */
const isDescribed = ({ words, startUnixNs, endUnixNs }: Block, rows: SpanRows): boolean => {
  for (let row = 0; row < rows.count; row++) {
    if (!hasNumber(words, rows.traces.words[4 * rows.trace[row] + 3])) return false;
    if (rows.start.values[row] < startUnixNs || rows.end.values[row] > endUnixNs) return false;
  }
  return true;
};
