// Builds a dictionary from keys in ascending order: blocks as they become full, the index at the end. It holds one block and, for each
// block, what the index says of it. The same keys must always give the same bytes.

import { ByteWriter, oneOf, wholeNumber } from 'spanline/internal/base';
import { isRandom } from '../container/codec.js';
import type { ContainerWriter, WrittenBlock } from '../container/container-writer.js';
import {
  BadKeyError,
  BadOptionsError,
  BadValueError,
  badOptions,
  DuplicateKeyError,
} from '../container/graph-error.js';
import { SectionId } from '../container/layout.js';
import { MAX_GRAPHS, MAX_ORDINALS } from '../meta.js';
import { BlockList, NO_PART } from './block-table.js';
import { DICTIONARY_PARTS, encodeIndex, encodeIndexCopy, MAX_BLOCK_KEYS, MIN_BLOCK_KEYS } from './dictionary-index.js';
import { type KeyCodec, KeyEncoder, WANTED_CODECS } from './key-block.js';
import { checkKey, compareStretch, MAX_KEY_BYTES, sharedLength, shownKey } from './key-bytes.js';
import { FilterBuilder } from './key-filter.js';
import { OrdinalEncoder } from './ordinal-columns.js';

/** How a dictionary is built. */
export interface DictionaryOptions {
  /** Graphs that number the keys. */
  readonly graphs: number;
  /** Keys of a block, 64 to 1024: more make the file smaller and a look-up slower. Default 128. */
  readonly blockKeys?: number;
  /** How keys are written; by default in each block the way that is smallest there. Where one is not possible it is `front`. */
  readonly keyCodec?: KeyCodec | 'auto';
  /** Bytes at the start of each key that name its group, as a trace id does. */
  readonly groupBytes?: number;
  /** Write a filter, so that readers need not read to learn that a key is not there: about nine bits a key. Default false. */
  readonly filter?: boolean;
  /** Bytes at the start of each key that the filter remembers: whole keys by default, groups where `groupBytes` is given. */
  readonly filterBytes?: number;
}

/** What was built. */
export interface DictionaryBuildStats {
  readonly keys: number;
  readonly keyBytes: number;
  readonly blocks: number;
  /** Bytes of the file that each kind takes. */
  readonly blockBytes: number;
  readonly indexBytes: number;
  /** 0 when no filter was wanted, or none could be made. */
  readonly filterBytes: number;
}

/**
 * Writes the sections of a dictionary: every key once, with its number in each graph. Use it through `CompactGraphBuilder`, or alone for
 * a file that only maps keys to numbers.
 *
 * @example
 * ```ts
 * import { BufferSink, ContainerWriter, DictionaryBuilder } from '@spanline/graph';
 * const sink = new BufferSink();
 * const writer = new ContainerWriter(sink);
 * const builder = new DictionaryBuilder(writer, { graphs: 1 });
 * builder.add(Buffer.from('ada'), [1]);
 * builder.add(Buffer.from('grace'), [0]);
 * console.assert(builder.finish().keys === 2);
 * writer.finish();
 * ```
 */
export class DictionaryBuilder {
  readonly #writer: ContainerWriter;
  readonly #graphs: number;
  readonly #blockKeys: number;
  readonly #groupBytes: number;
  readonly #keyEncoder: KeyEncoder;
  readonly #ordinalEncoder: OrdinalEncoder;
  readonly #filter: FilterBuilder | undefined;
  readonly #blocks = new BlockList(DICTIONARY_PARTS);
  readonly #part = new ByteWriter();

  // The block being filled: keys one behind the other, ordinals graph by graph.
  #bytes = Buffer.allocUnsafe(16 * 1024);
  readonly #offsets: Uint32Array;
  readonly #ordinals: Uint32Array;
  #count = 0;
  #width = 0;

  #lastKey = Buffer.alloc(0);
  #keyCount = 0;
  #keyBytes = 0;
  #start: number | undefined;
  #blockBytes = 0;
  #filterBytes = 0;
  #stage: 'keys' | 'blocks written' | 'filter written' | 'finished' = 'keys';

  constructor(writer: ContainerWriter, options: DictionaryOptions) {
    this.#writer = writer;
    const { graphs, blockKeys = 128, keyCodec = 'auto', groupBytes = 0, filter = false } = options;
    const { filterBytes = groupBytes } = options;
    this.#graphs = wholeNumber('graphs', graphs, [1, MAX_GRAPHS], badOptions);
    this.#blockKeys = wholeNumber('blockKeys', blockKeys, [MIN_BLOCK_KEYS, MAX_BLOCK_KEYS], badOptions);
    this.#groupBytes = wholeNumber('groupBytes', groupBytes, [0, MAX_KEY_BYTES - 1], badOptions);
    oneOf('keyCodec', keyCodec, WANTED_CODECS, badOptions);
    if (keyCodec === 'grouped' && groupBytes === 0) throw new BadOptionsError('keyCodec grouped needs groupBytes');
    this.#keyEncoder = new KeyEncoder(keyCodec, writer.compression);
    this.#ordinalEncoder = new OrdinalEncoder(blockKeys);
    this.#filter = filter
      ? new FilterBuilder(wholeNumber('filterBytes', filterBytes, [0, MAX_KEY_BYTES], badOptions))
      : undefined;
    this.#offsets = new Uint32Array(blockKeys + 1);
    this.#ordinals = new Uint32Array(graphs * blockKeys);
  }

  /**
   * The next key and its ordinal in each graph, -1 where it is not in that graph. Both are copied. Throws `BadKeyError` unless it stands
   * behind all keys before, `DuplicateKeyError` when it is the last one again, `BadValueError` for ordinals that cannot be.
   */
  add(key: Uint8Array, ordinals: readonly number[]): void {
    if (this.#stage !== 'keys') throw new BadOptionsError('the dictionary is finished: keys come before');
    checkKey(key);
    this.#checkOrder(key);
    this.#checkOrdinals(ordinals);
    if (this.#count === this.#blockKeys) this.#flush();
    const count = this.#count;
    const start = this.#offsets[count];
    const end = start + key.length;
    if (end > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(end, this.#bytes.length * 2));
      larger.set(this.#bytes.subarray(0, start));
      this.#bytes = larger;
    }
    this.#bytes.set(key, start);
    this.#offsets[count + 1] = end;
    for (let graph = 0; graph < this.#graphs; graph++) {
      // In 32 bits -1 is `BLANK`.
      this.#ordinals[graph * this.#blockKeys + count] = ordinals[graph];
    }
    if (count === 0) this.#width = key.length;
    else if (this.#width !== key.length) this.#width = 0;
    this.#count++;
    this.#keyCount++;
    this.#keyBytes += key.length;
    this.#filter?.add(this.#bytes, start, end);
  }

  /** Write the last block and name the section; blocks lie one behind the other, so nothing else may be written before. */
  finishBlocks(): void {
    if (this.#stage !== 'keys') return;
    this.#stage = 'blocks written';
    if (this.#count > 0) this.#flush();
    this.#start ??= this.#writer.position;
    this.#blockBytes = this.#writer.position - this.#start;
    this.#writer.blockedSection({ id: SectionId.dictionaryBlocks }, this.#start);
  }

  /** Write a second copy of the index, by which salvage finds the blocks when the end of the file is lost; right behind `finishBlocks`. */
  writeIndexCopy(): void {
    encodeIndexCopy(this.#writer, this.#facts, this.#blocks);
  }

  /** Write the filter, where one is wanted; what readers need before stands nearer to the end of the file. */
  finishFilter(): void {
    this.finishBlocks();
    if (this.#stage !== 'blocks written') return;
    this.#stage = 'filter written';
    const filter = this.#filter?.build();
    if (filter === undefined) return;
    const before = this.#writer.position;
    this.#writer.section({ id: SectionId.filter }, filter);
    this.#filterBytes = this.#writer.position - before;
  }

  /** Write all that is not written yet, the index last. */
  finish(): DictionaryBuildStats {
    this.finishFilter();
    if (this.#stage === 'finished') throw new BadOptionsError('the dictionary is finished already');
    this.#stage = 'finished';
    const before = this.#writer.position;
    encodeIndex(this.#writer, this.#facts, this.#blocks);
    return {
      keys: this.#keyCount,
      keyBytes: this.#keyBytes,
      blocks: this.#blocks.count,
      blockBytes: this.#blockBytes,
      indexBytes: this.#writer.position - before,
      filterBytes: this.#filterBytes,
    };
  }

  get #facts() {
    return { keyCount: this.#keyCount, keyBytes: this.#keyBytes, blockKeys: this.#blockKeys, graphs: this.#graphs };
  }

  #checkOrder(key: Uint8Array): void {
    const count = this.#count;
    const difference =
      count === 0
        ? compareStretch(this.#lastKey, 0, this.#lastKey.length, key)
        : compareStretch(this.#bytes, this.#offsets[count - 1], this.#offsets[count], key);
    if (difference < 0) return;
    if (difference === 0) throw new DuplicateKeyError(`the key ${shownKey(key)} was added already`);
    throw new BadKeyError(`the key ${shownKey(key)} stands before the one added last: sort keys by their bytes`);
  }

  #checkOrdinals(ordinals: readonly number[]): void {
    if (ordinals.length !== this.#graphs) {
      throw new BadValueError(`a key has an ordinal for each of ${this.#graphs} graphs, not ${ordinals.length}`);
    }
    for (const ordinal of ordinals) {
      if (Number.isInteger(ordinal) && ordinal >= -1 && ordinal < MAX_ORDINALS) continue;
      throw new BadValueError(`an ordinal is a whole number below ${MAX_ORDINALS}, or -1 for none, not ${ordinal}`);
    }
  }

  #flush(): void {
    const bytes = this.#bytes;
    const count = this.#count;
    const width = this.#width;
    if (this.#start === undefined) this.#start = this.#writer.position;
    const separator = this.#separator();
    const { keys, storedKeys, tails } = this.#keyEncoder.encode({
      bytes,
      offsets: this.#offsets,
      count,
      width,
      groupBytes: this.#groupBytes,
    });
    const parts = [
      storedKeys === undefined ? this.#writePart(keys) : this.#writer.storedBlock(storedKeys),
      this.#writePart(tails),
    ];
    this.#part.clear();
    for (let graph = 0; graph < this.#graphs; graph++) {
      this.#ordinalEncoder.write(this.#part, this.#ordinals, graph * this.#blockKeys, count);
    }
    parts.push(this.#writePart(this.#part.view()));
    this.#blocks.add(separator, parts);
    this.#lastKey = Buffer.from(bytes.subarray(this.#offsets[count - 1], this.#offsets[count]));
    this.#count = 0;
  }

  /** The shortest bytes behind the last key of the block before and not behind the first of this one; none for the first block. */
  #separator(): Buffer {
    if (this.#blocks.count === 0) return Buffer.alloc(0);
    const first = this.#bytes.subarray(0, this.#offsets[1]);
    return Buffer.from(first.subarray(0, sharedLength(this.#lastKey, first) + 1));
  }

  #writePart(bytes: Buffer): Omit<WrittenBlock, 'offset'> {
    if (bytes.length === 0) return NO_PART;
    return isRandom(bytes) ? this.#writer.block(bytes, 'none') : this.#writer.block(bytes);
  }
}
