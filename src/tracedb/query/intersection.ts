// The traces that meet every condition. It begins as a merge of all inputs; since an id tells by itself whether a condition holds,
// an input that proves denser than another stops being read and becomes a check of ids. So a query costs about the rows of
// its rarest condition, whatever the others are. The answer must be the same either way.
import type { Span } from '../../span/span.js';
import { BATCH_IDS, type IdNode, newFigures } from './id-node.js';
import { endNodeSpan } from './leaf.js';

/** A condition of an intersection. */
export interface IntersectionInput {
  readonly node: IdNode;
  /** The same condition asked of one id. */
  readonly test: (id: string) => boolean;
  /** The first id of this input that is not below `id`, by a read of its own; undefined when there is none. */
  readonly seek: (id: string) => Promise<string | undefined>;
}

interface Active extends IntersectionInput {
  ids: readonly string[];
  at: number;
  rows: number;
}

/** Rows after which an input is dropped unless it is the rarest. A merge moves all inputs over the same ids, so rows compare. */
const DEMOTE_ROWS = 4096;
/** Batches until a dropped input is first asked whether it has ended; every answer doubles the interval. */
const FIRST_SEEK_BATCHES = 8;

/** Where the first id not below `id` is, from `at` on: doubling steps, then halving. */
const lowerBound = (ids: readonly string[], id: string, at: number): number => {
  let step = 1;
  let low = at;
  while (low + step < ids.length && (ids[low + step] as string) < id) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, ids.length);
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ids[middle] as string) < id) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** The intersection of its inputs, of which there is at least one. */
export class Intersection implements IdNode {
  readonly figures = newFigures();
  private active: Active[] = [];
  private readonly dropped: IntersectionInput[] = [];
  private readonly tests: ((id: string) => boolean)[];
  private isStarted = false;
  private isOver = false;
  private batchesToSeek = FIRST_SEEK_BATCHES;
  private seekInterval = FIRST_SEEK_BATCHES;

  /** @param tests Conditions that are only checked on ids, because reading them would take too many streams. */
  constructor(
    private readonly inputs: readonly IntersectionInput[],
    tests: readonly ((id: string) => boolean)[],
    private readonly span: Span | undefined,
  ) {
    this.tests = [...tests];
  }

  async next(): Promise<readonly string[] | undefined> {
    if (!this.isStarted) await this.start();
    const out: string[] = [];
    while (!this.isOver && out.length < BATCH_IDS) {
      if (this.active.length === 1) await this.filterBatch(out);
      else await this.mergeBatch(out);
    }
    if (out.length === 0) {
      await this.close();
      return undefined;
    }
    this.figures.idsOut += out.length;
    this.figures.batches++;
    return out;
  }

  async close(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.inputs.map(({ node }) => node.close()));
    this.span?.addProperty('inputs.dropped', this.dropped.length);
    endNodeSpan(this.span, this.figures);
  }

  private async start(): Promise<void> {
    this.isStarted = true;
    const since = performance.now();
    const batches = await Promise.all(this.inputs.map(({ node }) => node.next()));
    this.figures.waitMs += performance.now() - since;
    for (const [i, ids] of batches.entries()) {
      if (ids === undefined) {
        // One side is empty, so all is: the others' reads end now.
        await this.close();
        return;
      }
      this.figures.idsIn += ids.length;
      this.active.push({ ...(this.inputs[i] as IntersectionInput), ids, at: 0, rows: ids.length });
    }
  }

  /** Merge until the output is full, an input ends, or one is dropped. */
  private async mergeBatch(out: string[]): Promise<void> {
    const { active, tests } = this;
    const [first] = active as [Active];
    while (out.length < BATCH_IDS) {
      const candidate = first.ids[first.at] as string;
      let highest = candidate;
      for (const input of active) {
        if (!(await this.advanceTo(input, highest))) return;
        if (active !== this.active) return;
        const id = input.ids[input.at] as string;
        if (id > highest) highest = id;
      }
      if (highest !== candidate) {
        if (!(await this.advanceTo(first, highest)) || active !== this.active) return;
        continue;
      }
      if (tests.every((test) => test(candidate))) out.push(candidate);
      if (!(await this.stepAll()) || active !== this.active) return;
    }
  }

  /** Move every input, all of which stand on one id, behind it: the one that goes on alone must not meet it again. False at the end. */
  private async stepAll(): Promise<boolean> {
    const { active } = this;
    for (const input of active) input.at++;
    for (const input of active) {
      if (input.at === input.ids.length && !(await this.refill(input))) return false;
    }
    return true;
  }

  /** Check the ids of the one input that is still read. */
  private async filterBatch(out: string[]): Promise<void> {
    const { tests } = this;
    const input = this.active[0] as Active;
    const { ids } = input;
    let { at } = input;
    for (; at < ids.length && out.length < BATCH_IDS; at++) {
      const id = ids[at] as string;
      let isMatch = true;
      for (const test of tests) {
        if (!test(id)) {
          isMatch = false;
          break;
        }
      }
      if (isMatch) out.push(id);
    }
    input.at = at;
    if (at < ids.length || !(await this.refill(input))) return;
    if (this.dropped.length > 0 && --this.batchesToSeek <= 0) await this.seekDropped(input);
  }

  /** Ask the inputs no longer read where they go on: when one has ended, so has the answer. */
  private async seekDropped(input: Active): Promise<void> {
    this.seekInterval *= 2;
    this.batchesToSeek = this.seekInterval;
    const since = performance.now();
    for (const { seek } of this.dropped) {
      const id = await seek(input.ids[input.at] as string);
      if (id === undefined) {
        await this.close();
        break;
      }
      input.at = lowerBound(input.ids, id, input.at);
      if (input.at === input.ids.length && !(await this.refill(input))) break;
    }
    this.figures.waitMs += performance.now() - since;
  }

  /** Move an input to the first id not below `id`, unless it is dropped on the way there; false at its end. */
  private async advanceTo(input: Active, id: string): Promise<boolean> {
    const { active } = this;
    for (;;) {
      if ((input.ids[input.at] as string) >= id) return true;
      input.at = lowerBound(input.ids, id, input.at);
      if (input.at < input.ids.length) return true;
      if (!(await this.refill(input))) return false;
      // One that is no longer read has no more ids, which does not mean that the answer has none.
      if (active !== this.active) return true;
    }
  }

  private async refill(input: Active): Promise<boolean> {
    const since = performance.now();
    const ids = await input.node.next();
    this.figures.waitMs += performance.now() - since;
    if (ids === undefined) {
      await this.close();
      return false;
    }
    this.figures.idsIn += ids.length;
    input.ids = ids;
    input.at = 0;
    input.rows += ids.length;
    if (input.rows >= DEMOTE_ROWS && this.active.some(({ rows }) => rows < input.rows)) await this.drop(input);
    return true;
  }

  private async drop(input: Active): Promise<void> {
    // A new array: a merge that goes on over the old one sees that it changed.
    this.active = this.active.filter((other) => other !== input);
    this.dropped.push(input);
    this.tests.push(input.test);
    await input.node.close();
  }
}
