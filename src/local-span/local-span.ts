// LocalSpan: a handle on one record of a SpanLine. Two words and an epoch; once its record is gone it can do nothing.
// Hot path: nothing here may throw or call anything but the line.

import { lazyProperties, madeProperties } from './lazy.js';
import type { Properties, PropertyValue } from './property.js';
import { recordingTaskLine } from './task-context.js';

/** What a handle asks of the line that has its record. */
interface RecordingLine {
  readonly mount: { readonly isDiscarded: boolean };
  start(name: string): LocalSpan;
  isRecording(index: number, epoch: number): boolean;
  addProperty(index: number, epoch: number, key: string, value: PropertyValue): void;
  addEvent(index: number, epoch: number, name: string, properties: Properties | undefined): void;
  addCurrentProperty(key: string, value: PropertyValue): void;
  addCurrentEvent(name: string, properties: Properties | undefined): void;
  finish(index: number, epoch: number): void;
}

const recordingLine = recordingTaskLine as () => RecordingLine | undefined;

/**
 * A span of one synchronous stretch of work, the cheapest thing this library records.
 *
 * Use it in hot code under a {@link Span.run}; for work that awaits use `Span` or `traced`. Without a recording parent it
 * is a no-op. Design: SpanQueue of TiKV's minitrace.
 *
 * @example
 * ```ts
 * const root = Span.root('query');
 * root.run(() => {
 *   using parse = LocalSpan.start('parse');
 *   parse.addProperty('bytes', 120);
 * });
 * root.end();
 * ```
 */
export class LocalSpan implements Disposable {
  private readonly line: RecordingLine | null;
  private readonly index: number;
  private readonly epoch: number;

  /** @internal Use {@link LocalSpan.start}. */
  constructor(line: RecordingLine | null, index: number, epoch: number) {
    this.line = line;
    this.index = index;
    this.epoch = epoch;
  }

  /** Start a local span under the innermost open one of this task. End it in the same synchronous stretch. */
  static start(name: string): LocalSpan {
    // Kept so small that V8 puts it into its caller whatever else it has put there.
    const line = recordingLine();
    return line === undefined ? NOOP_LOCAL_SPAN : line.start(name);
  }

  /** Add a property to the innermost open local span of this task, or to its `Span` when none is open. */
  static addProperty(key: string, value: PropertyValue): void {
    recordingLine()?.addCurrentProperty(key, value);
  }

  /** Add properties to the innermost open local span; a callback runs only when recording. */
  static addProperties(properties: Properties | (() => Properties)): void {
    const line = recordingLine();
    if (line === undefined || line.mount.isDiscarded) return;
    lazyProperties(properties, (key, value) => line.addCurrentProperty(key, value));
  }

  /** Add an event to the innermost open local span of this task, or to its `Span` when none is open. See {@link addEvent}. */
  static addEvent(name: string, properties?: Properties | (() => Properties)): void {
    recordingLine()?.addCurrentEvent(name, madeProperties(properties));
  }

  /** True when this handle records; lets a caller skip work that only feeds properties. */
  get isRecording(): boolean {
    return this.line?.isRecording(this.index, this.epoch) ?? false;
  }

  /** Add one property. A later value of the same key wins. The value is kept by reference: do not change an array. */
  addProperty(key: string, value: PropertyValue): this {
    if (this.line !== null) this.line.addProperty(this.index, this.epoch, key, value);
    return this;
  }

  /** Add properties; a callback runs at once, and only when recording. */
  addProperties(properties: Properties | (() => Properties)): this {
    if (this.line === null || this.line.mount.isDiscarded) return this;
    lazyProperties(properties, (key, value) => this.addProperty(key, value));
    return this;
  }

  /**
   * Add an event at this moment. Properties are kept by reference: do not change them afterwards. A callback runs at once, and
   * only when recording.
   */
  addEvent(name: string, properties?: Properties | (() => Properties)): this {
    if (this.line === null) return this;
    const made =
      typeof properties === 'function' ? (this.isRecording ? madeProperties(properties) : undefined) : properties;
    this.line.addEvent(this.index, this.epoch, name, made);
    return this;
  }

  /** End the span. A second end does nothing and is counted. */
  end(): void {
    if (this.line !== null) this.line.finish(this.index, this.epoch);
  }

  [Symbol.dispose](): void {
    if (this.line !== null) this.line.finish(this.index, this.epoch);
  }
}

/** What every refused or unrecorded start returns. */
export const NOOP_LOCAL_SPAN: LocalSpan = Object.freeze(new LocalSpan(null, 0, 0)) as LocalSpan;
