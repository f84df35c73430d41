// OtelSpan: a span of ours as OpenTelemetry's API sees one. It holds the span and no state of its own but what the API asks for: what is
// set goes to the span at once. Nothing here may throw, whatever it is given, and after the end nothing changes.
import type {
  Attributes,
  AttributeValue,
  Exception,
  Link,
  Span,
  SpanContext,
  SpanStatus,
  TimeInput,
} from '@opentelemetry/api';
import { attempt } from '../base/calls/attempt.js';
import { now } from '../clock/index.js';
import { Counter, count } from '../rows/counters.js';
import { guarded, nameText, type Properties, type PropertyValue } from '../rows/property.js';
import type { ActiveTrace } from '../span/active-trace.js';
import type { Span as CoreSpan } from '../span/span.js';
import type { SpanContext as CoreContext } from '../span/span-context.js';
import { diag } from './api-global.js';
import { createTraceState, INVALID_SPAN_CONTEXT, STATUS_OK, STATUS_UNSET, stateText } from './api-values.js';
import { type AttributeLimits, attributeValue, firstProperties } from './attributes.js';
import { isTimeInput, toTicks } from './time-input.js';
import { isRoute, noteRoute } from './trace-routes.js';

const SAMPLED = 1;
const RANDOM = 2;

/** A context of ours as the API has it. */
export const toSpanContext = ({ traceId, spanId, sampled, isRandom, traceState }: CoreContext): SpanContext => {
  const traceFlags = (sampled ? SAMPLED : 0) | (isRandom ? RANDOM : 0);
  return traceState === ''
    ? { traceId, spanId, traceFlags }
    : { traceId, spanId, traceFlags, traceState: createTraceState(traceState) };
};

// A code is more precise than a name: ENOENT, ERR_INVALID_ARG_TYPE.
const exceptionProperties = (exception: unknown): Properties => {
  if (typeof exception === 'string') return { 'exception.message': exception };
  const text = (key: string): string | undefined =>
    guarded(() => {
      const value = (exception as Record<string, unknown>)[key];
      return value ? String(value) : undefined;
    });
  return {
    'exception.type': text('code') ?? text('name'),
    'exception.message': text('message'),
    'exception.stacktrace': text('stack'),
  };
};

/** What a link refers to. */
const targetOf = ({ context, attributes }: Link) => {
  const { traceId, spanId, traceState } = context;
  return { traceId, spanId, traceState: stateText(traceState), attributes };
};

export class OtelSpan implements Span {
  private context: SpanContext | null = null;
  private isOk = false;

  constructor(
    /** The span it stands for. */
    readonly spanlineSpan: CoreSpan,
    private readonly limits: AttributeLimits,
  ) {}

  spanContext(): SpanContext {
    if (this.context === null) {
      const context = this.spanlineSpan.context;
      this.context = context === undefined ? INVALID_SPAN_CONTEXT : toSpanContext(context);
    }
    return this.context;
  }

  setAttribute(key: string, value: AttributeValue): this {
    if (!this.isOpen()) return this;
    const kept = attributeValue(key, value, this.limits.text);
    if (kept === undefined) return this;
    this.spanlineSpan.setProperty(key, kept as PropertyValue);
    if (isRoute(key)) noteRoute(this.spanlineSpan, kept);
    return this;
  }

  setAttributes(attributes: Attributes): this {
    if (typeof attributes !== 'object' || attributes === null) return this;
    try {
      for (const key of Object.keys(attributes)) this.setAttribute(key, attributes[key] as AttributeValue);
    } catch {
      // A getter or a proxy: what is behind it is left out. A callback for each would cost a tenth of a span.
      count(Counter.callbackErrors);
    }
    return this;
  }

  addEvent(name: string, attributesOrTime?: Attributes | TimeInput, time?: TimeInput): this {
    if (!this.isOpen()) return this;
    const isTime = isTimeInput(attributesOrTime);
    const at = isTimeInput(time) ? time : isTime ? attributesOrTime : undefined;
    const { text, ofEvent } = this.limits;
    const { properties, dropped } = firstProperties(isTime ? undefined : attributesOrTime, text, ofEvent);
    this.event(name, properties, at, dropped);
    return this;
  }

  addLink(link: Link): this {
    if (!this.isOpen()) return this;
    // Outside any span there is no context.
    const target = attempt(() => targetOf(link));
    if (target === undefined) {
      count(Counter.linksInvalid);
      diag.warn('Dropping a link without the context of a span');
      return this;
    }
    const { attributes, ...to } = target;
    const { text, ofLink } = this.limits;
    const { properties, dropped } = firstProperties(attributes, text, ofLink);
    this.spanlineSpan.addLink({ ...to, properties, droppedAttributesCount: dropped });
    return this;
  }

  addLinks(links: Link[]): this {
    for (const link of attempt(() => [...links]) ?? []) this.addLink(link);
    return this;
  }

  setStatus(status: SpanStatus): this {
    const { code = STATUS_UNSET, message } = attempt(() => ({ code: status.code, message: status.message })) ?? {};
    if (!this.isOpen() || code === STATUS_UNSET || this.isOk) return this;
    this.isOk = code === STATUS_OK;
    if (this.isOk) this.spanlineSpan.setStatus('ok');
    else {
      if (message !== undefined && message !== null && typeof message !== 'string') {
        diag.warn(`Dropping invalid status.message of type '${typeof message}', expected 'string'`);
      }
      this.spanlineSpan.setStatus('error', typeof message === 'string' ? message : undefined);
    }
    return this;
  }

  updateName(name: string): this {
    if (this.isOpen()) this.spanlineSpan.rename(name);
    return this;
  }

  recordException(exception: Exception, time?: TimeInput): void {
    if (!this.isOpen()) return;
    const properties = exception ? exceptionProperties(exception) : {};
    if (properties['exception.type'] === undefined && properties['exception.message'] === undefined) {
      diag.warn(`Failed to record an exception ${nameText(exception)}`);
    } else this.event('exception', properties, time);
  }

  end(time?: TimeInput): void {
    const { spanlineSpan } = this;
    const { trace } = spanlineSpan;
    if (trace === null) return;
    if (spanlineSpan.endTicks !== 0) {
      const { traceId, spanId } = this.spanContext();
      diag.error(`${nameText(spanlineSpan.name)} ${traceId}-${spanId} - You can only call end() on a span once.`);
      return;
    }
    if (time === undefined || time === null) spanlineSpan.endAt(trace, Math.max(now(), spanlineSpan.begin));
    else this.endThen(trace, time);
  }

  isRecording(): boolean {
    return this.spanlineSpan.isRecording;
  }

  protected isOpen(): boolean {
    const { trace, endTicks } = this.spanlineSpan;
    if (trace === null) return false;
    if (endTicks === 0) return true;
    const { traceId, spanId } = this.spanContext();
    diag.warn(`Cannot execute the operation on ended Span {traceId: ${traceId}, spanId: ${spanId}}`);
    return false;
  }

  private event(name: string, properties: Properties | undefined, time: TimeInput | undefined, dropped = 0): void {
    const { spanlineSpan } = this;
    const isNow = time === undefined || time === null;
    const ticks = isNow ? now() : toTicks(time, spanlineSpan.trace as ActiveTrace);
    spanlineSpan.addEventAt(name, ticks, properties, dropped);
  }

  private endThen(trace: ActiveTrace, time: TimeInput): void {
    const { begin } = this.spanlineSpan;
    const ticks = toTicks(time, trace);
    if (ticks < begin) {
      diag.warn('Inconsistent start and end time, startTime > endTime. Setting span duration to 0ms.');
    }
    this.spanlineSpan.endAt(trace, Math.max(ticks, begin));
  }
}

/** Not instanceof: it may come from the other build of this package. */
export const coreOf = (span: unknown): CoreSpan | undefined => (span as Partial<OtelSpan> | undefined)?.spanlineSpan;
