// SpanLine: the local parent of one task. A SpanQueue, an epoch that makes old handles harmless, the mount point its
// batches go to and whether it is sampled. Never pooled: an un-awaited continuation may hold it after its trace ended.
import { Counter, count, countMany } from './counters.js';
import type { LocalBatch } from './local-batch.js';
import { LocalSpan, NOOP_LOCAL_SPAN } from './local-span.js';
import { warnOutOfOrder } from './misuse.js';
import type { Properties, PropertyValue } from './property.js';
import { Finish, SpanQueue } from './span-queue.js';
import { closeAfterTurn } from './stretches.js';

/** Where the batches of a line go: a cross-async span, or a local collector. */
export interface LineMount {
  /** False for a local collector, which has no identity in a trace. */
  readonly isSpan: boolean;
  /** Take a finished batch whose top spans become children of this mount; its first `reserved` spans have their places. */
  mountBatch(batch: LocalBatch, reserved: number): void;
  /** Reserves places for local spans that a span names as its parent; returns the number granted. */
  reserve(n: number): number;
  /** How many more local spans may be recorded; asked once per chunk. */
  readonly localSpanRoom: number;
  /** True when nothing of this mount can be reported any more. Not asked for each local span: its room is 0 then. */
  readonly isDiscarded: boolean;
  /** Count a local span for which there was no room, by the reason. */
  refusedLocalSpan(): void;
  /** Properties and events added while no local span is open. */
  addProperty(key: string, value: PropertyValue): void;
  addEvent(name: string, properties?: Properties): void;
  readonly idHi: number;
  readonly idLo: number;
}

export class SpanLine {
  readonly queue = new SpanQueue();
  /** Raised whenever the queue is emptied; a handle of an earlier epoch can do nothing. */
  epoch = 0;
  /** True while local spans may start here without further checks: it records and its scope is open. */
  isLive: boolean;
  /** The line of the scope this one belongs to: itself, but for a stretch that goes on after its scope. */
  readonly scope: SpanLine;
  /** What was current around a scope that was left while another was innermost; null for any other. */
  leftTo: SpanLine | undefined | null = null;
  /** Its scope is no function call, and will be left. */
  isEntered = false;
  // No scope will close it: it holds nothing that has ended, and the turn ends what is open.
  private isUnscoped = false;
  private isUnfinished = false;
  // Number of spans at the head of the queue that already have their places in the trace.
  private reserved = 0;
  /** Neighbours in the list of running lines of the same span; see `Span.run`. */
  nextOpen: SpanLine | null = null;
  previousOpen: SpanLine | null = null;

  constructor(
    readonly mount: LineMount,
    readonly sampled: boolean,
    scope?: SpanLine,
  ) {
    this.isLive = sampled;
    this.scope = scope ?? this;
  }

  /** A line for the stretch of code that runs now, where the scope of this one is over. Closed after the turn. */
  stretch(): SpanLine {
    const stretch = new SpanLine(this.mount, true, this.scope);
    stretch.isUnscoped = true;
    return stretch;
  }

  /** True while a local span is open. */
  get hasOpen(): boolean {
    return this.queue.nextParent >= 0;
  }

  /** Start a local span under the innermost one still open. */
  start(name: string): LocalSpan {
    const index = this.begin(name);
    return index < 0 ? NOOP_LOCAL_SPAN : new LocalSpan(this, index, this.epoch);
  }

  /** Like {@link start} for callers that keep (index, epoch) themselves and need no handle. -1 when refused. */
  begin(name: string): number {
    const queue = this.queue;
    if (!queue.hasRoom && !this.grow()) return -1;
    return queue.start(name);
  }

  finish(index: number, epoch: number): void {
    if (epoch !== this.epoch) {
      count(Counter.staleHandles);
      return;
    }
    const found = this.queue.finish(index);
    if (found !== Finish.ok) this.misused(found);
    if (this.isUnscoped && this.queue.nextParent < 0) this.drain();
  }

  isOpen(index: number, epoch: number): boolean {
    return epoch === this.epoch && this.queue.isOpen(index);
  }

  isRecording(index: number, epoch: number): boolean {
    return this.isOpen(index, epoch) && !this.mount.isDiscarded;
  }

  addProperty(index: number, epoch: number, key: string, value: PropertyValue): void {
    if (!this.isOpen(index, epoch)) count(Counter.changedAfterEnd);
    else this.queue.addProperty(index, key, value);
  }

  addEvent(index: number, epoch: number, name: string, properties: Properties | undefined): void {
    if (!this.isOpen(index, epoch)) count(Counter.changedAfterEnd);
    else this.queue.addEvent(index, name, properties);
  }

  /** Add to the innermost open local span, or to the mount when none is open. */
  addCurrentProperty(key: string, value: PropertyValue): void {
    const index = this.queue.nextParent;
    if (index < 0) this.mount.addProperty(key, value);
    else this.queue.addProperty(index, key, value);
  }

  /** Add to the innermost open local span, or to the mount when none is open. */
  addCurrentEvent(name: string, properties: Properties | undefined): void {
    const index = this.queue.nextParent;
    if (index < 0) this.mount.addEvent(name, properties);
    else this.queue.addEvent(index, name, properties);
  }

  /** The parent of a span that starts here: the innermost one open, kept from now on, or -1 for the mount. */
  takeParent(): number {
    const index = this.queue.nextParent;
    if (index >= this.reserved) this.reserved += this.mount.reserve(index + 1 - this.reserved);
    return index < this.reserved ? index : -1;
  }

  /** Id of the span at `index`, upper half; that of the mount for -1. */
  idHiOf(index: number): number {
    return index < 0 ? this.mount.idHi : this.queue.idHiOf(index);
  }

  idLoOf(index: number): number {
    return index < 0 ? this.mount.idLo : this.queue.idLoOf(index);
  }

  /** The task is over: hand over what was recorded. Spans still open end now and are counted. */
  close(): void {
    this.isLive = false;
    this.isUnscoped = true;
    this.isUnfinished = false;
    const open = this.queue.finishOpen();
    if (open > 0) countMany(Counter.localSpansLeftOpen, open);
    this.drain();
  }

  /** The span ends while its task goes on. What is open may belong to the code that runs now, and has until it returns. */
  settle(): void {
    this.isUnscoped = true;
    if (this.hasOpen) this.finishWithTurn();
    else if (this.isEntered) this.drain();
    else this.close();
  }

  private finishWithTurn(): void {
    if (this.isUnfinished) return;
    this.isUnfinished = true;
    closeAfterTurn(this);
  }

  private drain(): void {
    if (this.queue.count === 0) return;
    this.epoch++;
    const { reserved } = this;
    this.reserved = 0;
    this.mount.mountBatch(this.queue.take(), reserved);
  }

  private grow(): boolean {
    if (this.queue.count - this.reserved >= this.mount.localSpanRoom) {
      this.mount.refusedLocalSpan();
      return false;
    }
    if (this.isUnscoped) this.finishWithTurn();
    this.queue.grow();
    return true;
  }

  private misused(found: number): void {
    if (found === Finish.already) {
      count(Counter.endedTwice);
      return;
    }
    count(Counter.localSpansClosedOutOfOrder);
    warnOutOfOrder();
  }
}
