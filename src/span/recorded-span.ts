// A cross-async span as it is recorded: what it says, within the bounds of its trace, and where it goes: a row in the trace of each parent, with what is mounted
// below it. `Span` above starts and ends it. Recording path: what is refused is counted, never thrown.
import { now, nsPerTick } from '../clock/index.js';
import { reserveSpanIds, spanIdPrefix } from '../local-span/ids.js';
import type { LocalBatch } from '../local-span/local-batch.js';
import { LocalSpan, type QueueMount, type SpanQueue } from '../local-span/local-span.js';
import { Counter, count } from '../rows/counters.js';
import {
  type EndedSpan,
  keptProperties,
  keptValue,
  lazyProperties,
  type Properties,
  type PropertyValue,
  SpanDetails,
} from '../rows/property.js';
import { Flag } from '../rows/row-chunk.js';
import { internScope } from '../rows/row-text.js';
import { type ActiveTrace, isSamePlace, type TraceLimits } from './active-trace.js';
import {
  errorMessage,
  exceptionProperties,
  optionsArgument,
  type SpanOptions,
  withKind,
  withStatus,
} from './arguments.js';
import { FurtherParents } from './further-parents.js';
import { type SpanKind, STATUS_CODES, type StatusCode } from './span-types.js';

export abstract class RecordedSpan implements EndedSpan, QueueMount {
  /** @internal Ids are signed 32-bit words. */
  idHi = 0;
  /** @internal */
  idLo = 0;
  /** @internal */
  begin = 0;
  /** @internal 0 while open. */
  endTicks = 0;
  /** @internal Key, value, key, value. */
  propertyList: (string | PropertyValue)[] | null = null;
  /** @internal */
  details: SpanDetails | null = null;
  /** @internal Kind, status and the number of the scope, as in the flags of a row. */
  rowFlags = 0;
  /** @internal */
  further: FurtherParents | null = null;
  // Its trace is full. What starts below belongs to the span above, whose id it has.
  private isRefused = false;

  /** @internal */
  constructor(
    /** @internal Null when this span does not record. */
    readonly trace: ActiveTrace | null,
    readonly name: string,
    /** @internal */
    readonly parentHi: number,
    /** @internal */
    readonly parentLo: number,
    /** @internal */
    readonly isRoot: boolean,
  ) {
    if (trace === null) return;
    if (isRoot || trace.admit()) {
      this.idLo = reserveSpanIds(1);
      this.idHi = spanIdPrefix();
    } else {
      this.isRefused = true;
      this.idLo = parentLo;
      this.idHi = parentHi;
    }
    this.begin = now();
  }

  /** @internal */
  get isSpan(): boolean {
    return true;
  }

  /** True while this span records: sampled, not ended, its trace not cancelled nor otherwise dropped. */
  get isRecording(): boolean {
    return this.endTicks === 0 && this.isKept && this.recordingTrace !== null;
  }

  /** @internal Whether {@link context} of a span that records is sampled. */
  get passesSampled(): boolean {
    const { recordingTrace } = this;
    return recordingTrace?.isSampled === true && recordingTrace.sink.reportsNothing !== true;
  }

  /** @internal The ids of {@link context}, six words, without making one. False where it is not sampled. */
  writeSampledIds(words: Int32Array, at: number): boolean {
    if (this.trace === null || !this.passesSampled) return false;
    const { w0, w1, w2, w3 } = (this.recordingTrace ?? this.trace).context;
    words[at] = w0;
    words[at + 1] = w1;
    words[at + 2] = w2;
    words[at + 3] = w3;
    words[at + 4] = this.idHi;
    words[at + 5] = this.idLo;
    return true;
  }

  /** Nanoseconds since the start; until the end once ended. 0 when not recording. */
  elapsed(): number {
    if (this.trace === null) return 0;
    return ((this.endTicks === 0 ? now() : this.endTicks) - this.begin) * nsPerTick();
  }

  /** Add one property. A later value of the same key wins. An array is copied now. */
  addProperty(key: string, value: PropertyValue): this {
    if (!this.accepts()) return this;
    const list = this.propertyList;
    const max = 2 * this.limits.maxPropertiesPerSpan;
    // A literal has room for what is in it, where the first push makes room for sixteen.
    if (list === null && max > 0) this.propertyList = [key, keptValue(value)];
    else if (list !== null && list.length < max) list.push(key, keptValue(value));
    else {
      count(Counter.propertiesOverCap);
      this.detailed.droppedProperties++;
    }
    return this;
  }

  /** @internal Set a property: one of this key that is there is replaced, and takes no further place. */
  setProperty(key: string, value: PropertyValue): void {
    const list = this.propertyList;
    if (list !== null && this.endTicks === 0) {
      for (let i = 0; i < list.length; i += 2) {
        if (list[i] !== key) continue;
        list[i + 1] = keptValue(value);
        return;
      }
    }
    this.addProperty(key, value);
  }

  /** Add properties; a callback runs at once, and only when recording. */
  addProperties(properties: Properties | (() => Properties)): this {
    if (this.accepts()) lazyProperties(properties, (key, value) => this.addProperty(key, value));
    return this;
  }

  /** Add an event at this moment. Properties are copied now; a callback runs at once, and only when recording. */
  addEvent(name: string, properties?: Properties | (() => Properties)): this {
    if (!this.accepts()) return this;
    const event = { name, ticks: now(), properties: keptProperties(properties), dropped: 0 };
    this.detailed.addEvent(event, this.limits.maxEventsPerSpan);
    return this;
  }

  /** @internal Its work has failed: the exception as an event, and the status. */
  recordFailure(error: unknown): this {
    return this.recordException(error).setStatus('error', errorMessage(error));
  }

  /** @internal An event of another moment, `dropped` of whose properties were refused. */
  addEventAt(name: string, ticks: number, properties: Properties | undefined, dropped = 0): void {
    if (!this.accepts()) return;
    const event = { name, ticks, properties: keptProperties(properties), dropped };
    this.detailed.addEvent(event, this.limits.maxEventsPerSpan);
  }

  /** Set the outcome; the last call wins. */
  setStatus(code: StatusCode, message?: string): this {
    if (!this.accepts()) return this;
    this.rowFlags = withStatus(this.rowFlags, code, message);
    const text = typeof message === 'string' ? message : '';
    if (text !== '' || this.details !== null) this.detailed.message = text;
    return this;
  }

  /** Add an `exception` event with type, message and stack. Does not set the status. Accepts any thrown value. */
  recordException(error: unknown, properties?: Properties | (() => Properties)): this {
    if (!this.accepts()) return this;
    if (properties === undefined) return this.addEvent('exception', exceptionProperties(error));
    // Without a prototype every key is a key.
    const all = Object.assign(
      Object.create(null) as Record<string, PropertyValue | undefined>,
      exceptionProperties(error),
    );
    lazyProperties(properties, (key, value) => {
      all[key] = value;
    });
    return this.addEvent('exception', all);
  }

  /** @internal */
  setKind(kind: SpanKind): void {
    this.rowFlags = withKind(this.rowFlags, kind);
  }

  /** @internal The number of the scope that recorded it. */
  setScope(number: number): void {
    this.rowFlags |= number << Flag.scopeShift;
  }

  /** @internal Its status is `error`. */
  protected get hasFailed(): boolean {
    return STATUS_CODES[(this.rowFlags >> Flag.statusShift) & Flag.statusMask] === 'error';
  }

  /** @internal True when a status other than `unset` was set. */
  get hasStatus(): boolean {
    return ((this.rowFlags >> Flag.statusShift) & Flag.statusMask) !== 0;
  }

  /** @internal Another name, until it ends: a server learns the route of a request after its start. */
  rename(name: string): void {
    if (this.accepts()) (this as { name: string }).name = name;
  }

  /** @internal Take the options of its start; it records. */
  withOptions(options: SpanOptions): this {
    const { kind, properties, scope } = optionsArgument(options);
    if (scope !== undefined) this.setScope(internScope(scope));
    if (kind !== undefined) this.setKind(kind);
    if (properties !== undefined) this.addProperties(properties);
    return this;
  }

  /** @internal */
  protected get detailed(): SpanDetails {
    this.details ??= new SpanDetails();
    return this.details;
  }

  /** @internal Take an id of the program's. A span that its trace had no place for keeps that of the span above, which is recorded. */
  identify(idHi: number, idLo: number): void {
    if (this.isRefused) return;
    this.idHi = idHi;
    this.idLo = idLo;
  }

  /** @internal */
  startLocal(queue: SpanQueue, name: string, outer: LocalSpan | null): LocalSpan | null {
    const { trace } = this;
    // A queue that was held under an unsampled root: no bound refuses that.
    if (trace === null) return null;
    if (!trace.hasNumber && this.recordingTrace === null) {
      count(Counter.spansOfDiscardedTraces);
      return null;
    }
    if (this.hasFurtherRows) return (this.further as FurtherParents).startLocal(trace, queue, name, outer);
    return trace.admit(Counter.localSpansOverCap) ? new LocalSpan(queue, name, outer) : null;
  }

  /** @internal */
  addLocal(span: LocalSpan, endTicks: number): void {
    const { idHi, idLo } = span.outer ?? this;
    if (span.traces === null) this.trace?.write(span, idHi, idLo, Flag.local, endTicks, null);
    else for (const one of span.traces as ActiveTrace[]) one.write(span, idHi, idLo, Flag.local, endTicks, null);
  }

  /** @internal Rows are written as local spans end. */
  closeBatch(): void {}

  /** @internal A batch that may be mounted under further spans of the same trace. */
  mountShared(batch: LocalBatch): void {
    const place = { parentHi: this.idHi, parentLo: this.idLo };
    this.trace?.mount(batch, place);
    this.further?.mount(batch, place);
  }

  /** @internal True when nothing of this span can be reported any more, in any of its traces. */
  get isDiscarded(): boolean {
    return this.trace !== null && this.recordingTrace === null;
  }

  /** @internal Take over the further parents of a parent, one per trace. */
  inherit({ rows }: FurtherParents, parentHi: number, parentLo: number): void {
    for (const { trace } of rows) this.addParent(trace, parentHi, parentLo);
  }

  /** @internal A further parent: in a trace this span is in already it becomes a link, else a row there. */
  addParent(trace: ActiveTrace, parentHi: number, parentLo: number): void {
    const parent = { trace, parentHi, parentLo };
    const row = trace === this.trace ? this : this.further?.rowIn(trace);
    if (row === undefined) {
      if (!trace.admit()) return;
      if (this.isRefused && !this.hasFurtherRows) {
        this.idLo = reserveSpanIds(1);
        this.idHi = spanIdPrefix();
      }
      this.further ??= new FurtherParents();
      this.further.rows.push(parent);
    } else if (!isSamePlace(row, parent) && !this.further?.hasLink(trace, parent)) {
      if (!this.hasRoomForLink()) return;
      this.further ??= new FurtherParents();
      this.further.links.push(parent);
    }
  }

  /** @internal */
  protected get hasFurtherRows(): boolean {
    return this.further !== null && this.further.rows.length > 0;
  }

  // Where this span goes to: its own trace, or that of a further parent when its own was discarded.
  /** @internal */
  protected get recordingTrace(): ActiveTrace | null {
    const { trace } = this;
    if (trace === null || !trace.isDiscarded) return trace;
    return this.further === null ? null : this.further.recordingTrace;
  }

  /** @internal */
  protected hasRoomForLink(): boolean {
    const links = (this.details?.links?.length ?? 0) + (this.further?.links.length ?? 0);
    if (links < this.limits.maxLinksPerSpan) return true;
    count(Counter.linksOverCap);
    this.detailed.droppedLinks++;
    return false;
  }

  private get limits(): TraceLimits {
    return (this.trace as ActiveTrace).sink.limits;
  }

  // A row in each trace, under its first parent there; further parents of that trace are links of that row.
  /** @internal */
  protected write(trace: ActiveTrace): void {
    const { isRoot, endTicks, further, rowFlags: flags } = this;
    const { isRemote, hasSpan } = trace.context;
    const rootFlags = isRoot ? Flag.root | (isRemote && hasSpan ? Flag.remoteParent : 0) : 0;
    const links = further === null ? null : further.linksIn(trace);
    if (!this.isRefused) trace.write(this, this.parentHi, this.parentLo, flags | rootFlags, endTicks, links);
    if (further !== null) further.write(this, flags, endTicks);
  }

  /** @internal False without a place in any trace. */
  protected get isKept(): boolean {
    return this.trace !== null && (!this.isRefused || this.hasFurtherRows);
  }

  /** @internal Whether it takes what is added now; what comes after the end is counted. */
  protected accepts(): boolean {
    if (!this.isKept) return false;
    if (this.endTicks === 0) return this.recordingTrace !== null;
    count(Counter.changedAfterEnd);
    return false;
  }
}
