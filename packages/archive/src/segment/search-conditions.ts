// The conditions of a search in the terms of one segment: which parts they need, which groups they rule out, and whether a span meets them.
// A span is read out of the columns that were loaded; a column that was not loaded has nothing.
import type {
  ArchivedEvent,
  ArchivedKind,
  ArchivedResource,
  ArchivedScope,
  ArchivedStatusCode,
  ArchivedValue,
} from 'spanline/internal/record';
import {
  hasTimeConditions,
  meantServices,
  meetsSpanConditions,
  type NamedSearch,
  type SpanView,
  wantedProperties,
} from '../meant-spans.js';
import { isInTime, type TraceSearch } from '../trace-search.js';
import type { Group } from './group-reader.js';
import type { Part } from './layout.js';
import type { SegmentFile } from './segment-file.js';
import type { ServiceSummary } from './segment-summary.js';
import type { SpanColumns, SpanTimesRead } from './span-columns.js';
import type { TraceRow } from './trace-rows.js';

const NO_EVENTS: readonly ArchivedEvent[] = Object.freeze([]);

/** The span `at` of a group. */
class ColumnSpan implements SpanView {
  at = 0;
  readonly #group: Group;
  readonly #spans: SpanColumns;
  readonly #times: SpanTimesRead | undefined;

  constructor(group: Group, spans: SpanColumns, times: SpanTimesRead | undefined) {
    this.#group = group;
    this.#spans = spans;
    this.#times = times;
  }

  get name(): string {
    return this.#spans.shape(this.at).name;
  }
  get service(): string {
    return this.#spans.service(this.at);
  }
  get kind(): ArchivedKind {
    return this.#spans.shape(this.at).kind;
  }
  get statusCode(): ArchivedStatusCode {
    return this.#spans.statusCode(this.at);
  }
  get statusMessage(): string {
    return this.#group.texts?.message(this.at) ?? '';
  }
  get traceState(): string {
    return this.#group.texts?.traceState(this.at) ?? '';
  }
  get resource(): ArchivedResource {
    return this.#spans.resource(this.at);
  }
  get scope(): ArchivedScope {
    return this.#spans.shape(this.at).scope;
  }
  get startUnixNs(): bigint {
    return this.#times?.starts[this.at] ?? 0n;
  }
  get endUnixNs(): bigint {
    return this.#times?.ends[this.at] ?? 0n;
  }
  get events(): readonly ArchivedEvent[] {
    // Their times are not looked at.
    return this.#group.events?.get(this.at, 0n) ?? NO_EVENTS;
  }
  property(key: string): ArchivedValue | undefined {
    return this.#group.properties?.value(this.at, key);
  }
  linksTo(traceId: string): boolean {
    return this.#group.links?.refersTo(this.at, traceId) ?? false;
  }
}

/** A search in one of several segments. */
export interface SegmentSearch extends NamedSearch {
  /** Traces that start before are not wanted: the others have enough that are newer. */
  readonly startsFromUnixNs?: bigint;
}

/** Whether what is known of a segment rules out that it has anything. */
export const isHopeless = ({ info }: Pick<SegmentFile, 'info'>, search: NamedSearch): boolean =>
  info.spanCount === 0 || !isInTime(info, search) || lacksOperation(info, search);

/** Whether the names that a segment lists rule out that a span of it meets the conditions of spans. */
export const lacksOperation = (info: ServiceSummary, search: NamedSearch): boolean => {
  const { service, name } = search;
  if (!info.listsAllOperations || (service === undefined && name === undefined)) return false;
  const services = meantServices(search) ?? [...info.operations.keys()];
  const lists = services.map((one) => info.operations.get(one) ?? []);
  return !lists.some((list) => list.some((operation) => name === undefined || operation.name === name));
};

/** Whether a trace meets the conditions of traces, as far as no span must be looked at. */
export const mayBeMeant = (trace: TraceRow, search: SegmentSearch): boolean => {
  const { startsFromUnixNs, minDurationNs, maxDurationNs, status } = search;
  const { minSpanDurationNs, spanFromUnixNs, spanToUnixNs } = search;
  const duration = trace.endUnixNs - trace.startUnixNs;
  if (startsFromUnixNs !== undefined && trace.startUnixNs < startsFromUnixNs) return false;
  if (!isInTime(trace, search)) return false;
  if (minDurationNs !== undefined && duration < minDurationNs) return false;
  if (maxDurationNs !== undefined && duration > maxDurationNs) return false;
  // No span lasts longer than its trace, or starts outside of it.
  if (minSpanDurationNs !== undefined && duration < minSpanDurationNs) return false;
  if (spanFromUnixNs !== undefined && trace.endUnixNs < spanFromUnixNs) return false;
  if (spanToUnixNs !== undefined && trace.startUnixNs > spanToUnixNs) return false;
  return status !== 'error' || trace.errorCount > 0;
};

/** Whether spans must be looked at of every trace that may be meant. */
export const mustSeeAllSpans = (search: TraceSearch): boolean =>
  hasTimeConditions(search) || search.linkedTo !== undefined || wantedProperties(search).length > 0;

/** Whether spans must be looked at to know that a trace, which may be meant, is. */
export const mustSeeSpans = ({ name, service, errorCount }: TraceRow, search: TraceSearch): boolean => {
  if (mustSeeAllSpans(search)) return true;
  const isNamed = search.name !== undefined || search.service !== undefined;
  if (search.status !== undefined) return isNamed || search.status !== 'error' || errorCount === 0;
  // The span that gives the trace its name may be the one.
  return (search.name ?? name) !== name || (search.service ?? service) !== service;
};

/** The parts of groups that conditions of spans look at. */
export const partsFor = (search: TraceSearch): readonly Part[] => {
  const wanted = wantedProperties(search);
  const parts: Part[] = wanted.length === 0 ? ['spans'] : ['spans', 'properties', 'events'];
  if (wanted.some(([key]) => key === 'otel.status_description' || key === 'w3c.tracestate')) parts.push('texts');
  if (search.linkedTo !== undefined) parts.push('links');
  return parts;
};

/** Whether a group, with the further pieces of its trace, has no link that a search could mean. */
export const lacksLinks = ({ groups }: SegmentFile, pieces: readonly number[], { linkedTo }: TraceSearch): boolean =>
  linkedTo !== undefined && pieces.every((piece) => groups.ref('links', piece) === undefined);

/** Whether a span among `first` to `end` meets all conditions of spans. */
export const hasMeantSpan = (group: Group, first: number, end: number, search: NamedSearch): boolean => {
  const { spans } = group;
  if (spans === undefined) return false;
  const span = new ColumnSpan(group, spans, spans.known);
  for (span.at = first; span.at < end; span.at++) if (meetsSpanConditions(span, search)) return true;
  return false;
};
