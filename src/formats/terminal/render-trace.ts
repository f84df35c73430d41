// One trace as text: an indented tree with durations, bars, properties, events and links. A pure function of its input.
// It must stay linear in the spans it prints and must not print a control character that came from a span.

import { shortText } from '../../base/text/escape-text.js';
import type { PropertyValue } from '../../local-span/property.js';
import type { Link } from '../../span/span-types.js';
import type { EventRecord, SpanRecord } from '../../trace/record.js';
import { type SpanNode, spanForest, walkTree } from '../../trace/tree.js';
import { COLOURED, type Palette, PLAIN } from './palette.js';
import { formatDuration } from './units.js';

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
const BAR = '━';

interface Row {
  readonly span: SpanRecord;
  readonly isOrphan: boolean;
  readonly branch: string;
  readonly trunk: string;
  readonly name: string;
}

interface Extent {
  readonly sec: number;
  readonly nano: number;
  readonly durationNs: number;
}

const sinceNs = (from: Extent, sec: number, nano: number): number => (sec - from.sec) * 1e9 + (nano - from.nano);

const extentOf = (spans: readonly SpanRecord[]): Extent => {
  const [first] = spans as [SpanRecord];
  let start = { sec: first.startSec, nano: first.startNano, durationNs: 0 };
  for (const { startSec, startNano } of spans) {
    if (sinceNs(start, startSec, startNano) < 0) start = { sec: startSec, nano: startNano, durationNs: 0 };
  }
  let durationNs = 0;
  for (const { endSec, endNano } of spans) durationNs = Math.max(durationNs, sinceNs(start, endSec, endNano));
  return { ...start, durationNs };
};

const makeRows = (roots: readonly SpanNode<SpanRecord>[], maxSpans: number): Row[] => {
  const rows: Row[] = [];
  /** What is drawn left of the children of the open node of each level. */
  const trunks: string[] = [];
  walkTree(roots, ({ span, isOrphan, children }, depth, isLast) => {
    if (rows.length === maxSpans) return false;
    const above = depth === 0 ? '' : (trunks[depth - 1] as string);
    const isDrawn = depth > 0 && depth <= MAX_LEVELS;
    trunks[depth] = isDrawn ? above + (isLast ? '   ' : '│  ') : above;
    const branch = isDrawn ? above + (isLast ? '└─ ' : '├─ ') : depth === 0 ? '' : `${above}[${depth}] `;
    const trunk = (trunks[depth] as string) + (children.length > 0 && depth < MAX_LEVELS ? '│  ' : '   ');
    rows.push({ span, isOrphan, branch, trunk, name: shortText(span.name) });
    return true;
  });
  return rows;
};

const formatValue = (value: PropertyValue): string => {
  if (typeof value === 'string') return /^[\w./:@+-]+$/.test(value) ? value : `"${shortText(value)}"`;
  if (Array.isArray(value))
    return `[${value.slice(0, 20).map(formatValue).join(', ')}${value.length > 20 ? ', …' : ''}]`;
  return String(value);
};

const formatList = (list: EventRecord['propertyList'], palette: Palette): string => {
  if (list === null) return '';
  let text = '';
  for (let i = 0; i < list.length; i += 2) {
    const key = shortText(list[i] as string);
    text += `${text === '' ? '' : ' '}${palette.dim(`${key}=`)}${formatValue(list[i + 1] as PropertyValue)}`;
  }
  return text;
};

const formatBar = (span: SpanRecord, extent: Extent, width: number): string => {
  const scale = extent.durationNs === 0 ? 0 : width / extent.durationNs;
  const from = Math.min(width - 1, Math.floor(sinceNs(extent, span.startSec, span.startNano) * scale));
  const length = Math.min(width - from, Math.max(1, Math.round(span.durationNs * scale)));
  return `${' '.repeat(from)}${BAR.repeat(length)}${' '.repeat(width - from - length)}`;
};

const formatLink = (link: Link, palette: Palette): string => {
  const list = Object.entries(link.properties ?? {}).flatMap(([key, value]) =>
    value === undefined ? [] : [key, value],
  );
  const text = `→ ${shortText(link.traceId)}/${shortText(link.spanId)} ${formatList(list, palette)}`;
  return text.trimEnd();
};

const formatSpan = (row: Row, extent: Extent, column: number, barWidth: number, palette: Palette): string => {
  const { span, branch, name } = row;
  const isError = span.status.code === 'error';
  const pad = ' '.repeat(Math.max(0, column - branch.length - name.length));
  const parts = [
    palette.dim(branch) + (isError ? palette.red(name) : palette.bold(name)) + pad,
    formatDuration(span.durationNs).padStart(7),
  ];
  if (barWidth > 0) parts.push((isError ? palette.red : palette.cyan)(formatBar(span, extent, barWidth)));
  if (span.kind !== 'internal') parts.push(palette.dim(span.kind));
  if (isError) parts.push(palette.red(`error${span.status.message ? `: ${shortText(span.status.message)}` : ''}`));
  if (row.isOrphan) parts.push(palette.yellow(`(parent ${span.parentSpanId} missing)`));
  return parts.join('  ');
};

const formatHeader = (
  spans: readonly SpanRecord[],
  extent: Extent,
  service: string | undefined,
  p: Palette,
): string => {
  const count = `${spans.length} ${spans.length === 1 ? 'span' : 'spans'}`;
  const parts = [`trace ${(spans[0] as SpanRecord).traceId}`, count, formatDuration(extent.durationNs)];
  if (service !== undefined) parts.splice(1, 0, shortText(service));
  return p.dim(parts.join(' · '));
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
  const extent = extentOf(spans);
  const rows = makeRows(spanForest(spans), maxSpans);
  let column = 0;
  for (const { branch, name } of rows) column = Math.max(column, branch.length + name.length);
  column = Math.min(column, MAX_NAME_COLUMN);

  const lines = [formatHeader(spans, extent, options.serviceName, palette)];
  for (const row of rows) {
    const { span } = row;
    const list = properties ? formatList(span.propertyList, palette) : '';
    lines.push(`${formatSpan(row, extent, column, barWidth, palette)}${list === '' ? '' : `  ${list}`}`.trimEnd());
    if (!events) continue;
    for (const event of span.events) {
      const at = formatDuration(Math.max(0, sinceNs(extent, event.sec, event.nano)));
      const text = `• ${at} ${shortText(event.name)} ${formatList(event.propertyList, palette)}`.trimEnd();
      lines.push(palette.dim(row.trunk) + text);
    }
    for (const link of span.links) lines.push(palette.dim(row.trunk) + formatLink(link, palette));
  }
  if (rows.length < spans.length) lines.push(palette.dim(`… ${spans.length - rows.length} more spans`));
  return `${lines.join('\n')}\n`;
};
