// A leaf of a query: the ids behind one prefix of the table. It owns its read and must end it.

import type { Span } from 'spanline';
import { timers } from 'spanline/internal/base';
import { failSpan, under, untraced } from '../node-span.js';
import { prefixEnd } from '../table/byte-order.js';
import type { ReadOptions, RowSelection, WideColumnTable } from '../table/wide-column-table.js';
import { behind, type IdStream, SpannedNode } from './id-node.js';

/** Where a leaf reads. */
interface LeafRead {
  readonly table: WideColumnTable;
  /** What all row keys begin with; what follows is the id. */
  readonly prefix: string;
  readonly options: ReadOptions;
}

/** Reads of one leaf that get spans of their own: a query may skip thousands of times. */
const MAX_READ_SPANS = 8;

/** Ids read from one prefix. */
export class Leaf extends SpannedNode implements IdStream {
  #keys: AsyncIterator<readonly string[]> | undefined;
  /** Where the next read begins. */
  #from = '';
  #reads = 0;
  #isClosed = false;

  readonly #read: LeafRead;

  constructor(read: LeafRead, span: Span | undefined) {
    super(span);
    this.#read = read;
  }

  protected async readOn(): Promise<readonly string[] | undefined> {
    // A node above may still be on its way when it is closed; no read must be opened then.
    if (this.#isClosed) return undefined;
    const { figures } = this;
    const since = timers.monotonicMs();
    try {
      this.#keys ??= this.#open();
      const { done, value } = await this.#keys.next();
      if (done) {
        await this.close();
        return undefined;
      }
      const idStart = this.#read.prefix.length;
      const ids = new Array<string>(value.length);
      for (let i = 0; i < value.length; i++) ids[i] = (value[i] as string).slice(idStart);
      this.#from = ids[ids.length - 1] as string;
      figures.idsIn += ids.length;
      figures.idsOut += ids.length;
      figures.batches++;
      return ids;
    } catch (error) {
      failSpan(this.span, error);
      throw error;
    } finally {
      figures.waitMs += timers.monotonicMs() - since;
    }
  }

  async skipTo(id: string): Promise<void> {
    await this.#endRead();
    if (id > this.#from) this.#from = id;
  }

  pause(): Promise<void> {
    return this.#endRead();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#keys?.return?.();
    this.endSpan({ reads: this.#reads });
  }

  async #endRead(): Promise<void> {
    const keys = this.#keys;
    if (keys === undefined) return;
    this.#keys = undefined;
    await keys.return?.();
    // A read that is open has given out ids, the last of which this is.
    this.#from = behind(this.#from);
  }

  #open(): AsyncIterator<readonly string[]> {
    const { table, prefix, options } = this.#read;
    const rows: RowSelection =
      this.#from === '' ? { prefix } : { start: prefix + this.#from, end: prefixEnd(prefix)?.toString() };
    const read = (): AsyncIterator<readonly string[]> => table.readKeys(rows, options);
    return this.#reads++ < MAX_READ_SPANS ? under(this.span, read) : untraced(read);
  }
}
