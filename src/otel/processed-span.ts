// ProcessedSpan: a span that processors of OpenTelemetry's SDK look at. It is their ReadableSpan too, made of what the span holds whenever
// somebody asks; a provider without processors makes none.
import type {
  Attributes,
  Context,
  HrTime,
  Link,
  SpanContext,
  SpanKind,
  SpanStatus,
  TimeInput,
} from '@opentelemetry/api';
import { getOrMake } from '../base/maps/maps.js';
import type { Resource } from '../collector/reporter.js';
import { resourceProperties } from '../formats/library.js';
import { sdkResource } from '../formats/sdk-shapes.js';
import { Counter, count } from '../rows/counters.js';
import type { PropertyList } from '../rows/property.js';
import { Flag, statusIn } from '../rows/row-chunk.js';
import type { SpanScope } from '../rows/row-text.js';
import type { ActiveTrace } from '../span/active-trace.js';
import type { Span as CoreSpan } from '../span/span.js';
import { spanHex, traceHex } from '../span/span-context.js';
import { createTraceState } from './api-values.js';
import type { AttributeLimits } from './attributes.js';
import { OtelSpan } from './otel-span.js';
import type { OtelSpanProcessor } from './sdk-interfaces.js';
import { toHrTime } from './time-input.js';

const made = new WeakMap<Resource, object>();

/** The resource of the collector that the trace goes to. */
export const toSdkResource = ({ resource }: ActiveTrace): object =>
  getOrMake(made, resource as Resource, (of) => sdkResource(resourceProperties(of)));

const toAttributes = (list: PropertyList | null): Attributes => {
  const attributes: Attributes = {};
  for (let i = 0; i < (list?.length ?? 0); i += 2) {
    attributes[list?.[i] as string] = list?.[i + 1] as Attributes[string];
  }
  return attributes;
};

// A processor is a program's own: what it throws is counted and stops nobody.
const callEach = (processors: readonly OtelSpanProcessor[], call: (one: OtelSpanProcessor) => void): void => {
  for (const one of processors) {
    try {
      call(one);
    } catch {
      count(Counter.callbackErrors);
    }
  }
};

export class ProcessedSpan extends OtelSpan {
  readonly #scope: SpanScope;
  readonly #processors: readonly OtelSpanProcessor[];

  constructor(
    span: CoreSpan,
    limits: AttributeLimits,
    readonly parentSpanContext: SpanContext | undefined,
    scope: SpanScope,
    processors: readonly OtelSpanProcessor[],
  ) {
    super(span, limits);
    this.#scope = scope;
    this.#processors = processors;
  }

  /** Said once, when what it was started with is set. */
  started(context: Context): void {
    callEach(this.#processors, (one) => one.onStart(this, context));
  }

  override end(time?: TimeInput): void {
    const isOpen = this.spanlineSpan.endTicks === 0;
    if (isOpen) callEach(this.#processors, (one) => one.onEnding?.(this));
    super.end(time);
    if (isOpen) callEach(this.#processors, (one) => one.onEnd(this));
  }

  get name(): string {
    return this.spanlineSpan.name;
  }
  get kind(): SpanKind {
    return this.spanlineSpan.rowFlags & Flag.kindMask;
  }
  /** SDK 1. */
  get parentSpanId(): string | undefined {
    return this.parentSpanContext?.spanId;
  }
  get startTime(): HrTime {
    return toHrTime(this.spanlineSpan.begin, this.#trace);
  }
  get endTime(): HrTime {
    return this.ended ? toHrTime(this.spanlineSpan.endTicks, this.#trace) : [0, 0];
  }
  get duration(): HrTime {
    if (!this.ended) return [-1, -1];
    const [from, to] = [this.startTime, this.endTime];
    const nano = to[1] - from[1];
    return nano < 0 ? [to[0] - from[0] - 1, nano + 1e9] : [to[0] - from[0], nano];
  }
  get ended(): boolean {
    return this.spanlineSpan.endTicks !== 0;
  }
  get status(): SpanStatus {
    const { rowFlags, details } = this.spanlineSpan;
    const code = statusIn(rowFlags);
    return details === null || details.message === '' ? { code } : { code, message: details.message };
  }
  get attributes(): Attributes {
    return toAttributes(this.spanlineSpan.propertyList);
  }
  get events(): { name: string; time: HrTime; attributes: Attributes; droppedAttributesCount: number }[] {
    return (this.spanlineSpan.details?.events ?? []).map(({ name, ticks, properties, dropped }) => ({
      name,
      time: toHrTime(ticks, this.#trace),
      attributes: toAttributes(properties),
      droppedAttributesCount: dropped,
    }));
  }
  get links(): Link[] {
    const links = this.spanlineSpan.details?.links ?? [];
    return links.flatMap(({ ids, traceState, properties, dropped }) => {
      if (ids === null) return [];
      const traceId = traceHex(ids[0], ids[1], ids[2], ids[3]);
      const context: SpanContext = { traceId, spanId: spanHex(ids[4], ids[5]), traceFlags: 1 };
      if (traceState !== '') context.traceState = createTraceState(traceState);
      const link: Link = properties === null ? { context } : { context, attributes: toAttributes(properties) };
      return [dropped === 0 ? link : { ...link, droppedAttributesCount: dropped }];
    });
  }
  get resource(): object {
    return toSdkResource(this.#trace);
  }
  get instrumentationScope(): { name: string; version: string; schemaUrl?: string } {
    return this.#scope;
  }
  /** SDK 1. */
  get instrumentationLibrary(): { name: string; version: string } {
    return this.#scope;
  }
  get droppedAttributesCount(): number {
    return this.spanlineSpan.details?.droppedProperties ?? 0;
  }
  get droppedEventsCount(): number {
    return this.spanlineSpan.details?.droppedEvents ?? 0;
  }
  get droppedLinksCount(): number {
    return this.spanlineSpan.details?.droppedLinks ?? 0;
  }

  get #trace(): ActiveTrace {
    return this.spanlineSpan.trace as ActiveTrace;
  }
}
