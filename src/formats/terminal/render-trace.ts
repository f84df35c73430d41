// One trace as text: an indented tree with durations, bars, properties, events and links. A pure function of its input.
// It must stay linear in the spans it prints and must not print a control character that came from a span.

import { shortText } from '../../base/text/escape-text.js';
import { type FinishedSpan, hasRemoteParent } from '../../record/finished-span.js';
import { ObjectView } from '../../record/object-view.js';
import type { SpanRecord } from '../../record/record.js';
import { spanForest } from '../../record/tree.js';
import { COLOURED, type Palette, PLAIN, UNICODE } from './palette.js';
import { drawTree, type TreeRow, treeRows } from './trace-tree.js';
import { type Extent, formatDuration, formatLink, formatPairs, sinceStart } from './values.js';

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

const extentOf = (spans: readonly FinishedSpan[]): Extent => {
  let { startUnixNs } = spans[0];
  let end = startUnixNs;
  for (const span of spans) {
    if (span.startUnixNs < startUnixNs) startUnixNs = span.startUnixNs;
    if (span.startUnixNs + span.durationNs > end) end = span.startUnixNs + span.durationNs;
  }
  return { startUnixNs, durationNs: end - startUnixNs };
};

const formatBar = ({ startUnixNs, durationNs }: FinishedSpan, extent: Extent, width: number): string => {
  const scale = extent.durationNs === 0n ? 0 : width / Number(extent.durationNs);
  const from = Math.min(width - 1, Math.floor(sinceStart(startUnixNs, extent) * scale));
  const length = Math.min(width - from, Math.max(1, Math.round(Number(durationNs) * scale)));
  return `${' '.repeat(from)}${UNICODE.bar.repeat(length)}${' '.repeat(width - from - length)}`;
};

/** What stands behind the name of a span. */
const formatColumns = (
  { node }: TreeRow,
  span: FinishedSpan,
  extent: Extent,
  barWidth: number,
  palette: Palette,
): string[] => {
  const isError = span.statusCode === 'error';
  const parts = [formatDuration(Number(span.durationNs)).padStart(7)];
  if (barWidth > 0) parts.push((isError ? palette.red : palette.cyan)(formatBar(span, extent, barWidth)));
  if (span.kind !== 'internal') parts.push(palette.dim(span.kind));
  if (isError) parts.push(palette.red(`error${span.statusMessage ? `: ${shortText(span.statusMessage)}` : ''}`));
  if (node.isOrphan && !hasRemoteParent(span.flags))
    parts.push(palette.yellow(`(parent ${span.parentSpanId} missing)`));
  return parts;
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
  const views = spans.map((span) => new ObjectView().of(span));
  const extent = extentOf(views);
  const rows = treeRows(spanForest(views), UNICODE, MAX_LEVELS, maxSpans).map((row) => ({
    ...row,
    name: shortText(row.node.span?.name ?? ''),
  }));
  const widest = rows.reduce((max, { branch, name }) => Math.max(max, branch.length + name.length), 0);
  const column = Math.min(widest, MAX_NAME_COLUMN);
  const lines = drawTree(rows, spans.length, {
    palette,
    label: ({ branch, name, node }) => {
      const style = node.span?.statusCode === 'error' ? palette.red : palette.bold;
      return palette.dim(branch) + style(name) + ' '.repeat(Math.max(0, column - branch.length - name.length));
    },
    columns: (row, span) => {
      const pairs = properties ? formatPairs(span.properties, Number.POSITIVE_INFINITY, 0, palette.dim).join(' ') : '';
      return [...formatColumns(row, span, extent, barWidth, palette), pairs];
    },
    details: ({ trunk }, span) =>
      events ? formatDetails(span, extent, palette).map((detail) => palette.dim(trunk) + detail) : [],
    rest: (count) => `… ${count} more spans`,
  });
  return `${[palette.dim(formatHeader(views, extent, options.serviceName)), ...lines].join('\n')}\n`;
};
