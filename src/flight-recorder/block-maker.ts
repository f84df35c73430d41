// Makes blocks of rows that a collector is about to let go. Columns are copied as a whole, a few nanoseconds a span: it runs at every report
// of a service under load. It must not make an object a span.
import { takeAnchor } from '../clock/index.js';
import type { Resource } from '../collector/reporter.js';
import { MAX_NAMES, nameOfNumber } from '../local-span/name-table.js';
import { CHUNK_ROWS, Flag, NO_SLOT, RowChunk } from '../local-span/row-chunk.js';
import { type RowEntries, Tag } from '../local-span/row-entries.js';
import type { RowOwner } from '../local-span/row-store.js';
import { type SpanScope, scopeOfNumber } from '../local-span/span-scopes.js';
import type { ActiveTrace } from '../span/active-trace.js';
import { Block, type BlockMeta, blockBytes, MAGIC, TRACE_WORDS, TraceBit, VERSION, Word, writeMeta } from './block.js';

/** Gives memory of at least so many bytes. */
export type Allocate = (bytes: number) => ArrayBuffer;

const hasNumber = (tag: number): boolean => tag <= Tag.array || tag === Tag.event;

export class BlockMaker {
  // Rows that are not all of a chunk are brought together here first.
  private readonly picked = new RowChunk(CHUNK_ROWS);
  // Of each slot the number of its trace in the block under way, plus one.
  private numberOfSlot = new Int32Array(1024);
  private readonly isNamed = new Uint8Array(MAX_NAMES + 1);

  constructor(private readonly allocate: Allocate) {}

  /** The rows of `chunk` from `from` on that belong to somebody; undefined when there are none. */
  make(chunk: RowChunk, from: number, owners: readonly (RowOwner | undefined)[]): Block | undefined {
    const { slots, count } = chunk;
    let wanted = 0;
    for (let row = from; row < count; row++) {
      if (slots[row] !== NO_SLOT && owners[slots[row]] !== undefined) wanted++;
    }
    if (wanted === 0) return undefined;
    if (wanted === count) return this.freeze(chunk, owners);
    const { picked } = this;
    picked.clear();
    for (let row = from; row < count; row++) {
      if (slots[row] !== NO_SLOT && owners[slots[row]] !== undefined) picked.copy(chunk, row, slots[row]);
    }
    return this.freeze(picked, owners);
  }

  /** All rows of `chunk`, whose slots are places in `traces`. */
  makeOf(chunk: RowChunk, traces: readonly ActiveTrace[]): Block {
    return this.freeze(chunk, traces);
  }

  private freeze(from: RowChunk, owners: readonly (RowOwner | undefined)[]): Block {
    const { count, entries } = from;
    const traces = this.numberTraces(from, owners);
    const resources: Resource[] = [];
    const traceStates = [''];
    const meta: BlockMeta = {
      names: this.namesOf(from),
      scopes: scopesOf(from),
      traceStates,
      resources,
      anchor: takeAnchor(),
    };
    const words = new Int32Array(traces.length * TRACE_WORDS);
    traces.forEach(({ context, isSampled, resource }, i) => {
      const { w0, w1, w2, w3, traceState, isRandom } = context;
      const bits = (isSampled ? TraceBit.sampled : 0) | (isRandom ? TraceBit.random : 0);
      words.set(
        [w0, w1, w2, w3, bits, placeOf(traceStates, traceState), placeOf(resources, resource as Resource)],
        i * TRACE_WORDS,
      );
    });
    const metaBytes = writeMeta(meta);
    const size = {
      rows: count,
      entries: entries.count,
      text: entries.text.used,
      meta: metaBytes.length,
      traces: traces.length,
    };
    const block = new Block(this.allocate(blockBytes(size)), size);
    block.traces.set(words);
    block.metaBytes.set(metaBytes);
    this.fill(block, from);
    for (let row = 0; row < count; row++) this.numberOfSlot[from.slots[row]] = 0;
    return block;
  }

  private fill(block: Block, from: RowChunk): void {
    const { chunk: to, header, size } = block;
    const { rows, entries, text } = size;
    for (const column of ['begins', 'ends'] as const) to[column].set(from[column].subarray(0, rows));
    for (const column of ['idHis', 'idLos', 'parentHis', 'parentLos', 'names', 'flags'] as const) {
      to[column].set(from[column].subarray(0, rows));
    }
    to.heads.set(from.heads.subarray(0, rows + 1));
    to.entries.words.set(from.entries.words.subarray(0, entries * 4));
    from.entries.text.bytes.copy(block.text, 0, 0, text);
    let [first, last] = [Number.POSITIVE_INFINITY, 0];
    for (let row = 0; row < rows; row++) {
      to.slots[row] = this.numberOfSlot[from.slots[row]] - 1;
      const end = from.ends[row];
      if (end < first) first = end;
      if (end > last) last = end;
    }
    header.fill(0);
    header[Word.magic] = MAGIC;
    header[Word.version] = VERSION;
    header[Word.bytes] = blockBytes(size);
    header[Word.rows] = rows;
    header[Word.entries] = entries;
    header[Word.text] = text;
    header[Word.meta] = size.meta;
    header[Word.traces] = size.traces;
    block.setEnds(first, last);
  }

  private numberTraces({ slots, count }: RowChunk, owners: readonly (RowOwner | undefined)[]): ActiveTrace[] {
    if (this.numberOfSlot.length < owners.length) this.numberOfSlot = new Int32Array(owners.length * 2);
    const { numberOfSlot } = this;
    const traces: ActiveTrace[] = [];
    for (let row = 0; row < count; row++) {
      const slot = slots[row];
      if (numberOfSlot[slot] === 0) numberOfSlot[slot] = traces.push(owners[slot] as ActiveTrace);
    }
    return traces;
  }

  private namesOf(from: RowChunk): [number, string][] {
    const { isNamed } = this;
    const used: number[] = [];
    const use = (number: number): void => {
      if (number === 0 || isNamed[number] !== 0) return;
      isNamed[number] = 1;
      used.push(number);
    };
    for (let row = 0; row < from.count; row++) use(from.names[row]);
    const { words, count }: RowEntries = from.entries;
    for (let at = 0; at < count * 4; at += 4) if (hasNumber(words[at + 1] & 0xff)) use(words[at]);
    for (const number of used) isNamed[number] = 0;
    return used.map((number) => [number, nameOfNumber(number)]);
  }
}

const scopesOf = ({ flags, count }: RowChunk): [number, SpanScope][] => {
  const scopes = new Map<number, SpanScope>();
  for (let row = 0, last = 0; row < count; row++) {
    const number = flags[row] >> Flag.scopeShift;
    if (number === last || number === 0 || scopes.has(number)) continue;
    last = number;
    const scope = scopeOfNumber(number);
    if (scope !== undefined) scopes.set(number, scope);
  }
  return [...scopes];
};

/** The place of `one` in a short list, where it is put unless it is there. */
const placeOf = <T>(list: T[], one: T): number => {
  const at = list.lastIndexOf(one);
  return at < 0 ? list.push(one) - 1 : at;
};
