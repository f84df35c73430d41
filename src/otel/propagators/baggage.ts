// W3C Baggage as a propagator of OpenTelemetry's API. An entry that breaks the format is left out and counted; sizes are those the format allows.
import type { BaggageEntry, Context, TextMapGetter, TextMapPropagator, TextMapSetter } from '@opentelemetry/api';
import { attempt } from '../../base/calls/attempt.js';
import { Counter, count, countMany } from '../../rows/counters.js';
import { baggageEntryMetadata, createBaggage, getBaggage, setBaggage } from '../api-values.js';
import { isSuppressed } from '../otel-context.js';
import { isToken } from './header-values.js';

const BAGGAGE = 'baggage';
const MAX_ENTRIES = 180;
const MAX_ENTRY_BYTES = 4096;
const MAX_BYTES = 8192;

/** What no header may have, and what begins the next entry. */
const UNSENDABLE = /[^ -+\--~]/gu;

const decoded = (text: string): string | undefined => attempt(() => decodeURIComponent(text));

const entryOf = (text: string): readonly [string, BaggageEntry] | undefined => {
  const semicolon = text.indexOf(';');
  const pair = semicolon < 0 ? text : text.slice(0, semicolon);
  const at = pair.indexOf('=');
  if (at < 1 || text.length > MAX_ENTRY_BYTES) return undefined;
  const key = decoded(pair.slice(0, at).trim());
  const value = decoded(pair.slice(at + 1).trim());
  if (key === undefined || value === undefined || key === '') return undefined;
  if (semicolon < 0) return [key, { value }];
  return [key, { value, metadata: baggageEntryMetadata(text.slice(semicolon + 1).trim()) }];
};

const textOf = ([key, { value, metadata }]: [string, BaggageEntry]): string => {
  const name = isToken(key) ? key : encodeURIComponent(key);
  const more = metadata === undefined ? '' : metadata.toString().replace(UNSENDABLE, encodeURIComponent);
  return `${name}=${encodeURIComponent(value)}${more === '' ? '' : `;${more}`}`;
};

/** Reads and writes `baggage`. */
export class W3CBaggagePropagator implements TextMapPropagator {
  inject<C>(context: Context, carrier: C, setter: TextMapSetter<C>): void {
    const baggage = getBaggage(context);
    if (baggage === undefined || isSuppressed(context)) return;
    let header = '';
    const entries = baggage.getAllEntries();
    countMany(Counter.baggageEntriesDropped, Math.max(0, entries.length - MAX_ENTRIES));
    for (const entry of entries.slice(0, MAX_ENTRIES)) {
      let text: string;
      try {
        text = textOf(entry);
      } catch {
        // A lone surrogate.
        count(Counter.baggageEntriesDropped);
        continue;
      }
      if (text.length > MAX_ENTRY_BYTES || header.length + 1 + text.length > MAX_BYTES) {
        count(Counter.baggageEntriesDropped);
        continue;
      }
      header = header === '' ? text : `${header},${text}`;
    }
    if (header !== '') setter.set(carrier, BAGGAGE, header);
  }

  extract<C>(context: Context, carrier: C, getter: TextMapGetter<C>): Context {
    const given = getter.get(carrier, BAGGAGE);
    const header = Array.isArray(given) ? given.join(',') : given;
    if (typeof header !== 'string') return context;
    const texts = header.split(',').filter((text) => text.trim() !== '');
    if (header.length > MAX_BYTES) {
      countMany(Counter.baggageEntriesDropped, texts.length);
      return context;
    }
    countMany(Counter.baggageEntriesDropped, Math.max(0, texts.length - MAX_ENTRIES));
    const entries: Record<string, BaggageEntry> = Object.create(null);
    for (const text of texts.slice(0, MAX_ENTRIES)) {
      const entry = entryOf(text);
      if (entry === undefined) count(Counter.baggageEntriesDropped);
      else entries[entry[0]] = entry[1];
    }
    if (Object.keys(entries).length === 0) return context;
    return setBaggage(context, createBaggage(entries));
  }

  fields(): string[] {
    return [BAGGAGE];
  }
}
