// What headers of other formats than W3C's have alike: one value, and ids that may be shorter than ours. Nothing here may throw.
//
// Several propagators as one. One that throws is said to `diag` and stops none of the others.
import type { Context, SpanContext, TextMapGetter, TextMapPropagator, TextMapSetter } from '@opentelemetry/api';
import { parseSpanId, parseTraceId } from '../../span/span-context.js';
import { diag } from '../api-global.js';

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Whether it may be in the name of a header. */
export const isToken = (text: string): boolean => TOKEN.test(text);

/** The value of a header that comes once, or the first of several. */
export const firstOf = (value: unknown): string | undefined => {
  const one: unknown = Array.isArray(value) ? value[0] : value;
  return typeof one === 'string' ? one : undefined;
};

/** A remote place by its ids; undefined when they are none. */
export const ids = (traceId: string, spanId: string, isSampled: boolean): SpanContext | undefined => {
  const [trace, span] = [traceId.toLowerCase().padStart(32, '0'), spanId.toLowerCase().padStart(16, '0')];
  if (parseTraceId(trace) === undefined || parseSpanId(span) === undefined) return undefined;
  return { traceId: trace, spanId: span, traceFlags: isSampled ? 1 : 0, isRemote: true };
};

const failed = (propagator: TextMapPropagator, what: string, error: unknown): void =>
  diag.warn(`Failed to ${what} with ${propagator.constructor.name}. Err: ${String(error)}`);

/** Injects with all and extracts with one after another, in their order. */
export class CompositePropagator implements TextMapPropagator {
  readonly #propagators: readonly TextMapPropagator[];

  constructor(propagators: readonly TextMapPropagator[]) {
    this.#propagators = [...propagators];
  }

  inject<C>(context: Context, carrier: C, setter: TextMapSetter<C>): void {
    for (const one of this.#propagators) {
      try {
        one.inject(context, carrier, setter);
      } catch (error) {
        failed(one, 'inject', error);
      }
    }
  }

  extract<C>(context: Context, carrier: C, getter: TextMapGetter<C>): Context {
    return this.#propagators.reduce((before, one) => {
      try {
        return one.extract(before, carrier, getter);
      } catch (error) {
        failed(one, 'extract', error);
        return before;
      }
    }, context);
  }

  fields(): string[] {
    return [...new Set(this.#propagators.flatMap((one) => one.fields()))];
  }
}
