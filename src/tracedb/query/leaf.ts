// A leaf of a query: the ids behind one prefix of the table. It owns its read and must end it.
import type { Span } from '../../span/span.js';
import { roundMs, under } from '../node-span.js';
import type { ReadOptions, WideColumnTable } from '../table/wide-column-table.js';
import { type IdNode, newFigures } from './id-node.js';

/** Where a leaf reads. */
export interface LeafRead {
  readonly table: WideColumnTable;
  /** What all row keys begin with; what follows is the id. */
  readonly prefix: string;
  readonly options: ReadOptions;
}

/** Ids read from one prefix. */
export class Leaf implements IdNode {
  readonly figures = newFigures();
  private readonly keys: AsyncIterator<readonly string[]>;
  private readonly idStart: number;

  constructor(
    { table, prefix, options }: LeafRead,
    private readonly span: Span | undefined,
  ) {
    this.idStart = prefix.length;
    this.keys = under(span, () => table.readKeys({ prefix }, options));
  }

  async next(): Promise<readonly string[] | undefined> {
    const { figures } = this;
    const since = performance.now();
    try {
      const { done, value } = await this.keys.next();
      if (done) {
        await this.close();
        return undefined;
      }
      const ids = new Array<string>(value.length);
      for (let i = 0; i < value.length; i++) ids[i] = (value[i] as string).slice(this.idStart);
      figures.idsIn += ids.length;
      figures.idsOut += ids.length;
      figures.batches++;
      return ids;
    } catch (error) {
      this.span?.recordException(error);
      throw error;
    } finally {
      figures.waitMs += performance.now() - since;
    }
  }

  async close(): Promise<void> {
    await this.keys.return?.();
    endNodeSpan(this.span, this.figures);
  }
}

/** End a node's span with its figures. */
export const endNodeSpan = (span: Span | undefined, { idsIn, idsOut, batches, waitMs }: IdNode['figures']): void => {
  if (span?.isRecording !== true) return;
  span.addProperties({ 'ids.in': idsIn, 'ids.out': idsOut, batches, 'wait.ms': roundMs(waitMs) });
  span.end();
};
