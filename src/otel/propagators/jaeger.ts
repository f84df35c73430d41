// Jaeger's uber-trace-id, and its baggage in headers of their own, as a propagator of OpenTelemetry's API.
import type {
  BaggageEntry,
  Context,
  SpanContext,
  TextMapGetter,
  TextMapPropagator,
  TextMapSetter,
} from '@opentelemetry/api';
import { attempt } from '../../base/calls/attempt.js';
import { Counter, count, countMany } from '../../rows/counters.js';
import {
  createBaggage,
  getBaggage,
  getSpanContext,
  isSpanContextValid,
  setBaggage,
  setSpanContext,
} from '../api-values.js';
import { isSuppressed } from '../otel-context.js';
import { firstOf, ids, isToken } from './header-values.js';

const HEADER = 'uber-trace-id';
const BAGGAGE = 'uberctx-';
const MAX_LENGTH = 128;
const MAX_ENTRIES = 64;
const MAX_VALUE = 4096;

const FORM = /^([0-9a-fA-F]{1,32}):([0-9a-fA-F]{1,16}):[0-9a-fA-F]{1,16}:([0-9a-fA-F]{1,2})$/;

const decoded = (text: string): string | undefined => attempt(() => decodeURIComponent(text));

// Colons may come percent-encoded.
const contextOf = (header: string | undefined): SpanContext | undefined => {
  const text = header === undefined || header.length > MAX_LENGTH ? undefined : decoded(header);
  const match = text === undefined ? null : FORM.exec(text);
  return match === null ? undefined : ids(match[1], match[2], (Number.parseInt(match[3], 16) & 1) !== 0);
};

/** Undefined for one with a lone surrogate. */
const encoded = (text: string): string | undefined => attempt(() => encodeURIComponent(text));

/** Reads and writes `uber-trace-id` and `uberctx-*`. */
export class JaegerPropagator implements TextMapPropagator {
  inject<C>(context: Context, carrier: C, setter: TextMapSetter<C>): void {
    if (isSuppressed(context)) return;
    const from = getSpanContext(context);
    if (from !== undefined && isSpanContextValid(from)) {
      setter.set(carrier, HEADER, `${from.traceId}:${from.spanId}:0:${(from.traceFlags & 1).toString(16)}`);
    }
    const all = getBaggage(context)?.getAllEntries() ?? [];
    countMany(Counter.baggageEntriesDropped, Math.max(0, all.length - MAX_ENTRIES));
    for (const [key, { value }] of all.slice(0, MAX_ENTRIES)) {
      const text = isToken(key) ? encoded(value) : undefined;
      if (text !== undefined && text.length <= MAX_VALUE) setter.set(carrier, `${BAGGAGE}${key}`, text);
      else count(Counter.baggageEntriesDropped);
    }
  }

  extract<C>(context: Context, carrier: C, getter: TextMapGetter<C>): Context {
    const from = contextOf(firstOf(getter.get(carrier, HEADER)));
    const found = from === undefined ? context : setSpanContext(context, from);
    const entries: [string, BaggageEntry][] = [];
    for (const name of getter.keys(carrier)) {
      if (!name.toLowerCase().startsWith(BAGGAGE)) continue;
      const text = firstOf(getter.get(carrier, name));
      const isTaken = text !== undefined && text.length <= MAX_VALUE && entries.length < MAX_ENTRIES;
      const value = isTaken ? decoded(text) : undefined;
      if (value !== undefined) entries.push([name.slice(BAGGAGE.length), { value }]);
      else count(Counter.baggageEntriesDropped);
    }
    if (entries.length === 0) return found;
    const before = getBaggage(context) ?? createBaggage();
    return setBaggage(
      found,
      entries.reduce((baggage, [key, entry]) => baggage.setEntry(key, entry), before),
    );
  }

  fields(): string[] {
    return [HEADER];
  }
}
