// Goes through the sorted keys of several runs at once; a key that several runs have comes up once. A heap of runs by their next key.
import { compareKeys } from '../dictionary/key-bytes.js';
import type { KeyCursor } from './run.js';

/** Merges key cursors. */
export class RunMerger {
  /** Cursors by their next key, the least first. */
  private readonly heap: number[] = [];
  /** Cursors that stand at `key`, in no order. */
  readonly members: number[] = [];

  constructor(private readonly cursors: readonly KeyCursor[]) {
    for (let i = 0; i < cursors.length; i++) this.advance(i);
  }

  /** The key that `next` went to. */
  get key(): Uint8Array {
    return this.cursors[this.members[0]].key;
  }

  /** Go to the next key; false when there is none. */
  next(): boolean {
    for (const member of this.members) this.advance(member);
    this.members.length = 0;
    if (this.heap.length === 0) return false;
    const first = this.pop();
    this.members.push(first);
    while (this.heap.length > 0 && this.compare(this.heap[0], first) === 0) this.members.push(this.pop());
    return true;
  }

  private advance(cursor: number): void {
    if (!this.cursors[cursor].next()) return;
    const { heap } = this;
    let place = heap.push(cursor) - 1;
    while (place > 0) {
      const parent = (place - 1) >>> 1;
      if (this.compare(heap[parent], cursor) <= 0) break;
      heap[place] = heap[parent];
      place = parent;
    }
    heap[place] = cursor;
  }

  private pop(): number {
    const { heap } = this;
    const [first] = heap;
    const last = heap.pop() as number;
    if (heap.length === 0) return first;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && this.compare(heap[child + 1], heap[child]) < 0) child++;
      if (this.compare(last, heap[child]) <= 0) break;
      heap[place] = heap[child];
      place = child;
    }
    heap[place] = last;
    return first;
  }

  private compare(a: number, b: number): number {
    return compareKeys(this.cursors[a].key, this.cursors[b].key);
  }
}
