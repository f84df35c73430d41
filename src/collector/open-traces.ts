// The open traces of a collector in order of age, and what they hold: a list through the words of the table, so that opening and closing a trace cost no
// look-up. trace-life alone decides which traces are in it; what bounds open traces, by number, bytes or age, looks at `oldest`.
import { type TraceTable, TraceWord } from '../rows/trace-table.js';

const NONE = -1;

export class OpenTraces {
  /** Numbers of the ends of the list; -1 when it is empty. */
  oldest = NONE;
  private newest = NONE;
  size = 0;
  bytes = 0;

  constructor(private readonly traces: TraceTable) {}

  /** The one that was opened next; -1 behind the newest. */
  after(number: number): number {
    return this.traces.get(number, TraceWord.newer);
  }

  add(number: number): void {
    const { traces, newest } = this;
    traces.set(number, TraceWord.older, newest);
    traces.set(number, TraceWord.newer, NONE);
    if (newest === NONE) this.oldest = number;
    else traces.set(newest, TraceWord.newer, number);
    this.newest = number;
    this.size++;
    this.bytes += traces.get(number, TraceWord.bytes);
  }

  /** Take one out, with what it holds. */
  remove(number: number): void {
    const { traces } = this;
    const older = traces.get(number, TraceWord.older);
    const newer = traces.get(number, TraceWord.newer);
    if (older === NONE) this.oldest = newer;
    else traces.set(older, TraceWord.newer, newer);
    if (newer === NONE) this.newest = older;
    else traces.set(newer, TraceWord.older, older);
    this.size--;
    this.bytes -= traces.get(number, TraceWord.bytes);
  }
}
