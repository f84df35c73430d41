// The conditions of a search against what is known: of a segment, of a trace, of a span. A trace is meant when the trace meets the
// conditions of traces and one of its spans meets all conditions of spans.
import type { TraceSearch } from '../../../trace/archived-span.js';
import {
  hasTimeConditions,
  meantServices,
  meetsSpanConditions,
  type NamedSearch,
  wantedProperties,
} from '../../../trace/match.js';
import type { TraceRow } from '../columns/trace-rows.js';
import type { Part } from '../layout.js';
import type { ServiceSummary } from '../segment-summary.js';
import { ColumnSpan } from './column-span.js';
import type { Group } from './group-reader.js';
import type { SegmentFile } from './segment-file.js';

/** A search in one of several segments. */
export interface SegmentSearch extends NamedSearch {
  /** Traces that start before are not wanted: the others have enough that are newer. */
  readonly startsFromUnixNs?: bigint;
}

/** Whether what is known of a segment rules out that it has anything. */
export const isHopeless = ({ info }: SegmentFile, search: NamedSearch): boolean => {
  const { fromUnixNs, toUnixNs } = search;
  if (info.spanCount === 0) return true;
  if (fromUnixNs !== undefined && info.endUnixNs < fromUnixNs) return true;
  if (toUnixNs !== undefined && info.startUnixNs > toUnixNs) return true;
  return lacksOperation(info, search);
};

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
  const { startsFromUnixNs, fromUnixNs, toUnixNs, minDurationNs, maxDurationNs, status } = search;
  const { minSpanDurationNs, spanFromUnixNs, spanToUnixNs } = search;
  const duration = trace.endUnixNs - trace.startUnixNs;
  if (startsFromUnixNs !== undefined && trace.startUnixNs < startsFromUnixNs) return false;
  if (fromUnixNs !== undefined && trace.endUnixNs < fromUnixNs) return false;
  if (toUnixNs !== undefined && trace.startUnixNs > toUnixNs) return false;
  if (minDurationNs !== undefined && duration < minDurationNs) return false;
  if (maxDurationNs !== undefined && duration > maxDurationNs) return false;
  // No span lasts longer than its trace, or starts outside of it.
  if (minSpanDurationNs !== undefined && duration < minSpanDurationNs) return false;
  if (spanFromUnixNs !== undefined && trace.endUnixNs < spanFromUnixNs) return false;
  if (spanToUnixNs !== undefined && trace.startUnixNs > spanToUnixNs) return false;
  return status !== 'error' || trace.errorCount > 0;
};

/** Whether spans must be looked at to know that a trace, which may be meant, is. */
export const mustSeeSpans = ({ name, service, errorCount }: TraceRow, search: TraceSearch): boolean => {
  if (hasTimeConditions(search) || wantedProperties(search).length > 0) return true;
  const isNamed = search.name !== undefined || search.service !== undefined;
  if (search.status !== undefined) return isNamed || search.status !== 'error' || errorCount === 0;
  // The span that gives the trace its name may be the one.
  return (search.name ?? name) !== name || (search.service ?? service) !== service;
};

/** The parts of groups that conditions of spans look at. */
export const partsFor = (search: TraceSearch): readonly Part[] => {
  const wanted = wantedProperties(search);
  if (wanted.length === 0) return ['spans'];
  const hasTexts = wanted.some(([key]) => key === 'otel.status_description' || key === 'w3c.tracestate');
  return hasTexts ? ['spans', 'properties', 'events', 'texts'] : ['spans', 'properties', 'events'];
};

/** Whether a span among `first` to `end` meets all conditions of spans. */
export const hasMeantSpan = (group: Group, first: number, end: number, search: NamedSearch): boolean => {
  const { spans } = group;
  if (spans === undefined) return false;
  const span = new ColumnSpan(group, spans, spans.known);
  for (span.at = first; span.at < end; span.at++) if (meetsSpanConditions(span, search)) return true;
  return false;
};
