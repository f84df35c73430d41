// One trace as text: an indented tree with durations, bars, properties, events and links. A pure function of its input.
// It must stay linear in the spans it prints and must not print a control character that came from a span.

import { shortText } from '../../base/text/escape-text.js';
import { type FinishedSpan, hasRemoteParent } from '../../record/finished-span.js';
import type { SpanRecord } from '../../record/record.js';
import { RecordView } from '../../record/record-view.js';
import { spanForest, walkTree } from '../../record/tree.js';
import { NO_SCOPE } from '../library.js';
import { type Extent, sinceStart } from './bar.js';
import { COLOURED, type Palette, PLAIN, UNICODE } from './palette.js';
import { type Branch, Branches } from './trace-tree.js';
import { formatDuration, formatLink, formatPairs } from './values.js';

/** How {@link renderTrace} prints a trace. */
export interface RenderOptions {
  /** Terminal colours; false by default. */
  readonly colors?: boolean;
  /** Columns of the time bars, 0 for none; 24 by default. */
  readonly barWidth?: number;
  /** Spans printed at most; the rest is counted in a last line. 1,000 by default. */
  readonly maxSpans?: number;
  /** Properties, behind the name; true by default. */
  readonly properties?: boolean;
  /** Events and links, each on a line of its own; true by default. */
  readonly events?: boolean;
  /** Shown in the first line. */
  readonly serviceName?: string;
}

/** Levels drawn with branches; deeper spans show their level as a number. */
const MAX_LEVELS = 40;
/** A longer name pushes only its own columns to the right. */
const MAX_NAME_COLUMN = 60;
const NO_RESOURCE = { properties: {} };

interface Row extends Branch {
  readonly span: FinishedSpan;
  readonly isOrphan: boolean;
  readonly name: string;
}

const extentOf = (spans: readonly FinishedSpan[]): Extent => {
  let { startUnixNs } = spans[0];
  let end = startUnixNs;
  for (const span of spans) {
    if (span.startUnixNs < startUnixNs) startUnixNs = span.startUnixNs;
    if (span.startUnixNs + span.durationNs > end) end = span.startUnixNs + span.durationNs;
  }
  return { startUnixNs, durationNs: end - startUnixNs };
};

const rowsOf = (spans: readonly FinishedSpan[], maxSpans: number): Row[] => {
  const branches = new Branches(UNICODE, MAX_LEVELS);
  const rows: Row[] = [];
  walkTree(spanForest(spans), ({ span, isOrphan, children }, depth, isLast) => {
    if (rows.length === maxSpans) return false;
    const branch = branches.next(depth, isLast, children.length > 0);
    rows.push({
      ...branch,
      span,
      isOrphan: isOrphan && !hasRemoteParent(span.flags),
      name: shortText(span.name),
    });
    return true;
  });
  return rows;
};

const formatBar = ({ startUnixNs, durationNs }: FinishedSpan, extent: Extent, width: number): string => {
  const scale = extent.durationNs === 0n ? 0 : width / Number(extent.durationNs);
  const from = Math.min(width - 1, Math.floor(sinceStart(startUnixNs, extent) * scale));
  const length = Math.min(width - from, Math.max(1, Math.round(Number(durationNs) * scale)));
  return `${' '.repeat(from)}${UNICODE.bar.repeat(length)}${' '.repeat(width - from - length)}`;
};

const formatSpan = (row: Row, extent: Extent, column: number, barWidth: number, palette: Palette): string => {
  const { span, branch, name } = row;
  const isError = span.statusCode === 'error';
  const pad = ' '.repeat(Math.max(0, column - branch.length - name.length));
  const parts = [
    palette.dim(branch) + (isError ? palette.red(name) : palette.bold(name)) + pad,
    formatDuration(Number(span.durationNs)).padStart(7),
  ];
  if (barWidth > 0) parts.push((isError ? palette.red : palette.cyan)(formatBar(span, extent, barWidth)));
  if (span.kind !== 'internal') parts.push(palette.dim(span.kind));
  if (isError) parts.push(palette.red(`error${span.statusMessage ? `: ${shortText(span.statusMessage)}` : ''}`));
  if (row.isOrphan) parts.push(palette.yellow(`(parent ${span.parentSpanId} missing)`));
  return parts.join('  ');
};

/** Events and links of a span. */
const formatDetails = (span: FinishedSpan, extent: Extent, { dim }: Palette): string[] => {
  const lines: string[] = [];
  for (let i = 0; i < span.eventCount; i++) {
    const { name, timeUnixNs, properties } = span.event(i);
    const at = formatDuration(Math.max(0, sinceStart(timeUnixNs, extent)));
    lines.push(['•', at, shortText(name), ...formatPairs(properties, Number.POSITIVE_INFINITY, 0, dim)].join(' '));
  }
  for (let i = 0; i < span.linkCount; i++)
    lines.push(`${UNICODE.link} ${formatLink(span.link(i), Number.POSITIVE_INFINITY, dim)}`);
  return lines;
};

const formatHeader = (spans: readonly FinishedSpan[], extent: Extent, service: string | undefined): string => {
  const count = `${spans.length} ${spans.length === 1 ? 'span' : 'spans'}`;
  const parts = [`trace ${spans[0].traceId}`, count, formatDuration(Number(extent.durationNs))];
  if (service !== undefined) parts.splice(1, 0, shortText(service));
  return parts.join(' · ');
};

/**
 * Renders the spans of one trace as a tree, one line a span, ending in a newline; the empty string for no spans. Use it
 * wherever a trace is shown to a person. Bars show where in the trace a span lies; times of events count from the start of
 * the trace. Control characters in names and values are escaped.
 *
 * @example
 * ```ts
 * const [root, collector] = Span.rootWithCollector('GET /query');
 * root.end();
 * process.stdout.write(renderTrace(await collector.collect(), { colors: process.stdout.isTTY }));
 * ```
 */
export const renderTrace = (spans: readonly SpanRecord[], options: RenderOptions = {}): string => {
  if (spans.length === 0) return '';
  const { barWidth = 24, maxSpans = 1000, properties = true, events = true } = options;
  const palette = options.colors === true ? COLOURED : PLAIN;
  const views = spans.map((span) => new RecordView(NO_RESOURCE, NO_SCOPE).of(span));
  const extent = extentOf(views);
  const rows = rowsOf(views, maxSpans);
  const widest = rows.reduce((max, { branch, name }) => Math.max(max, branch.length + name.length), 0);
  const column = Math.min(widest, MAX_NAME_COLUMN);

  const lines = [palette.dim(formatHeader(views, extent, options.serviceName))];
  for (const row of rows) {
    const pairs = properties ? formatPairs(row.span.properties, Number.POSITIVE_INFINITY, 0, palette.dim) : [];
    const line = formatSpan(row, extent, column, barWidth, palette);
    lines.push((pairs.length === 0 ? line : `${line}  ${pairs.join(' ')}`).trimEnd());
    if (events)
      for (const detail of formatDetails(row.span, extent, palette)) lines.push(palette.dim(row.trunk) + detail);
  }
  if (rows.length < spans.length) lines.push(palette.dim(`… ${spans.length - rows.length} more spans`));
  return `${lines.join('\n')}\n`;
};
