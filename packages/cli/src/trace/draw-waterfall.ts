// A trace as text for a terminal: what is known of it, a scale of time, and a line a span with its place in the tree and its bar. A pure
// function of its input: linear in what it draws, never wider than it was told, and no control character of a span reaches the terminal.

import type { TraceSummary } from '@spanline/archive';
import { serviceOf } from '@spanline/archive/internal';
import { shortText } from 'spanline/internal/base';
import {
  COLOURED,
  type DrawnNode,
  drawTree,
  type Extent,
  formatDuration,
  type Glyphs,
  LEVEL_COLUMNS,
  type Palette,
  PLAIN,
  sinceStart,
  type TreeRow,
  treeRows,
} from 'spanline/internal/formats';
import { type ArchivedSpan, type FinishedSpan, ObjectView, type SpanNode, spanForest } from 'spanline/internal/record';
import { cut, displayWidth, exactTime, formatBytes, plural } from '../terminal.js';
import { detailsOf } from './span-details.js';

/** How a trace is drawn. */
export interface WaterfallOptions {
  /** Columns. */
  readonly width: number;
  readonly glyphs: Glyphs;
  readonly isColoured: boolean;
  /** Spans drawn at most; the rest is counted in a last line. */
  readonly maxSpans: number;
  /** Properties, links and ids too. */
  readonly isFull: boolean;
  /** A line below a span, by its id: where its time went. */
  readonly notes?: ReadonlyMap<string, string>;
}

/** Narrower ones are drawn as if they were so wide. */
export const MIN_WIDTH = 40;
const GAP = '  ';
/** Of the width, at most. */
const LABEL_SHARE = 0.45;
const NAMED_SERVICES = 8;
/** Over the columns of times, where there are two. */
const WALL = 'wall';
const CPU = 'cpu';
/** Narrower waterfalls do without CPU times. */
const CPU_WIDTH = 70;
const MAX_CPU_COLUMNS = 20;

const startOf = ({ span, children }: DrawnNode): bigint => (span ?? children[0].span)?.startUnixNs ?? 0n;

/** The roots, by start; spans whose parent is absent hang below its place. */
const traceTree = (spans: readonly FinishedSpan[]): DrawnNode[] => {
  const present = new Set(spans.map(({ spanId }) => spanId));
  const roots: DrawnNode[] = [];
  const absent = new Map<string, SpanNode<FinishedSpan>[]>();
  for (const tree of spanForest(spans)) {
    const { parentSpanId } = tree.span;
    const siblings = absent.get(parentSpanId);
    if (!tree.isOrphan || present.has(parentSpanId)) roots.push(tree);
    else if (siblings !== undefined) siblings.push(tree);
    else {
      const children = [tree];
      absent.set(parentSpanId, children);
      roots.push({ span: undefined, isOrphan: false, children });
    }
  }
  const starts = new Map(roots.map((root) => [root, startOf(root)]));
  return roots.sort((a, b) => Number((starts.get(a) as bigint) - (starts.get(b) as bigint)));
};

/** Ids of parents that are not among the spans. */
export const absentParents = (spans: readonly Pick<ArchivedSpan, 'spanId' | 'parentSpanId'>[]): string[] => {
  const present = new Set(spans.map(({ spanId }) => spanId));
  return [
    ...new Set(spans.map(({ parentSpanId }) => parentSpanId).filter((parent) => parent !== '' && !present.has(parent))),
  ];
};

/** Services with the number of their spans, the busiest first. */
const servicesOf = (spans: readonly Pick<ArchivedSpan, 'resource'>[]): [service: string, spans: number][] => {
  const counts = new Map<string, number>();
  for (const span of spans) counts.set(serviceOf(span), (counts.get(serviceOf(span)) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
};

/** A line of the drawing. */
interface Row extends TreeRow {
  /** '' where it is that of the parent. */
  readonly service: string;
  /** The parent is there, and hangs below it: a circle, which was opened here. */
  readonly isOpened: boolean;
}

/** Levels that are drawn in so many columns; deeper ones are numbered. */
const levelsIn = (columns: number): number => Math.max(1, Math.floor((columns * 0.6) / LEVEL_COLUMNS));

const MAX_NAME = 200;

/** Name and what is said of it, without colours. */
const textsOf = (
  { node, service, isOpened }: Row,
  { error }: Glyphs,
): readonly [mark: string, name: string, rest: string] => {
  const { span, children } = node;
  if (span === undefined) return ['', `parent ${children[0].span?.parentSpanId} is not in the archive`, ''];
  const rest = [service === '' ? '' : shortText(service, MAX_NAME), isOpened ? '(parents in a circle)' : ''];
  const mark = span.statusCode === 'error' ? `${error} ` : '';
  return [mark, shortText(span.name, MAX_NAME) || '(no name)', rest.filter((one) => one !== '').join(' ')];
};

/** Columns that the whole label would take. */
const labelWidth = (row: Row, glyphs: Glyphs): number => {
  const [mark, name, rest] = textsOf(row, glyphs);
  return displayWidth(row.branch) + mark.length + displayWidth(name) + (rest === '' ? 0 : 1 + displayWidth(rest));
};

/** The label in exactly `width` columns. */
const drawLabel = (row: Row, width: number, glyphs: Glyphs, palette: Palette): string => {
  const [mark, name, rest] = textsOf(row, glyphs);
  const branch = cut(row.branch, width, glyphs.more);
  let left = width - displayWidth(branch);
  const shownName = cut(mark + name, left, glyphs.more);
  left -= displayWidth(shownName);
  const shownRest = rest === '' || left < 2 ? '' : cut(rest, left - 1, glyphs.more);
  if (shownRest !== '') left -= 1 + displayWidth(shownRest);
  const { span } = row.node;
  const style = span === undefined ? palette.yellow : span.statusCode === 'error' ? palette.red : palette.bold;
  return `${palette.dim(branch)}${style(shownName)}${shownRest === '' ? '' : ` ${palette.dim(shownRest)}`}${' '.repeat(left)}`;
};

/** What is known of the whole trace. */
const header = (
  summary: TraceSummary,
  spans: readonly FinishedSpan[],
  glyphs: Glyphs,
): (readonly [text: string, style?: keyof Palette])[] => {
  const { dot, more } = glyphs;
  const { traceId, name, service, startUnixNs, durationNs, spanCount, errorCount, bytes } = summary;
  const services = servicesOf(spans);
  const named = services.slice(0, NAMED_SERVICES).map(([one, count]) => `${shortText(one) || '(no name)'} ${count}`);
  const facts = [
    plural(spanCount, 'span'),
    plural(errorCount, 'error'),
    formatDuration(Number(durationNs), glyphs),
    formatBytes(bytes),
  ];
  const absent = absentParents(spans).length;
  const list = `services: ${named.join(', ')}${services.length > NAMED_SERVICES ? `, ${more}` : ''}`;
  const gap = `incomplete: ${plural(absent, 'parent is', 'parents are')} not in the archive`;
  return [
    [`trace ${traceId}`],
    [[shortText(name), shortText(service)].filter((text) => text !== '').join(` ${dot} `), 'bold'],
    [facts.join(` ${dot} `)],
    [`${exactTime(startUnixNs)} to ${exactTime(startUnixNs + durationNs)}`],
    ...(services.length > 1 ? [[list] as const] : []),
    ...(absent > 0 ? [[gap, 'yellow'] as const] : []),
  ];
};

/** Times above the bars. */
const scaleOf = ({ durationNs }: Extent, width: number, glyphs: Glyphs): string => {
  const quarters = width >= 48 ? 4 : width >= 24 ? 2 : 1;
  let line = '0';
  for (let i = 1; i <= quarters; i++) {
    const text = formatDuration((Number(durationNs) * i) / quarters, glyphs);
    const end = Math.round((width * i) / quarters);
    if (line.length < end - text.length) line = line.padEnd(end - text.length) + text;
  }
  return line;
};

const rowsOf = (spans: readonly FinishedSpan[], glyphs: Glyphs, maxLevels: number, maxSpans: number): Row[] =>
  treeRows(traceTree(spans), glyphs, maxLevels, maxSpans).map((row) => {
    const service = row.node.span === undefined ? '' : serviceOf(row.node.span);
    const isOfParent = row.above !== undefined && serviceOf(row.above) === service;
    return { ...row, service: isOfParent ? '' : service, isOpened: row.node.isOrphan && row.depth === 0 };
  });

const durationOf = ({ node: { span } }: Row, glyphs: Glyphs): string =>
  span === undefined ? '' : formatDuration(Number(span.durationNs), glyphs);

const nsOf = (span: FinishedSpan | undefined, key: string): number => {
  const value = span?.properties.get(key);
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : -1;
};

/** CPU time, such as `3.1 ms ±0.4 ms`, by the properties that CpuReporter adds; '' without them. The error is one standard error. */
const cpuOf = ({ node: { span } }: Row, glyphs: Glyphs): string => {
  const ns = nsOf(span, 'cpu.ns');
  const error = nsOf(span, 'cpu.stderr_ns');
  if (ns < 0) return '';
  return formatDuration(ns, glyphs) + (error > 0 ? ` ${glyphs.plusMinus}${formatDuration(error, glyphs)}` : '');
};

const BLANK = ' ';

/** The columns of a span's bar, `width` of them. Half columns are drawn where the glyphs have them, so that short spans behind each other do not look like one. */
const cellsOf = (span: FinishedSpan, extent: Extent, width: number, glyphs: Glyphs): string[] => {
  const halves = width * 2;
  const scale = extent.durationNs === 0n ? 0 : halves / Number(extent.durationNs);
  const within = (unixNs: bigint, last: number): number =>
    Math.min(last, Math.max(0, Math.round(sinceStart(unixNs, extent) * scale)));
  const from = within(span.startUnixNs, halves - 1);
  const to = extent.durationNs === 0n ? halves : Math.max(from + 1, within(span.startUnixNs + span.durationNs, halves));
  const cells = Array.from({ length: width }, (_, cell) => {
    const first = cell * 2 >= from && cell * 2 < to;
    const second = cell * 2 + 1 >= from && cell * 2 + 1 < to;
    if (first) return second ? glyphs.bar : glyphs.barEnd;
    return second ? glyphs.barStart : BLANK;
  });
  // An event of another clock may lie outside of the trace.
  for (let i = 0; i < span.eventCount; i++) cells[within(span.event(i).timeUnixNs, halves - 1) >> 1] = glyphs.event;
  return cells;
};

/** The bar with colours; `width` columns. */
const drawBar = (span: FinishedSpan, extent: Extent, width: number, glyphs: Glyphs, palette: Palette): string => {
  const barStyle = span.statusCode === 'error' ? palette.red : palette.cyan;
  const styleOf = (cell: string): ((text: string) => string) =>
    cell === BLANK ? String : cell === glyphs.event ? palette.yellow : barStyle;
  let line = '';
  let run = '';
  let style = styleOf(BLANK);
  for (const cell of cellsOf(span, extent, width, glyphs)) {
    const next = styleOf(cell);
    if (next !== style) {
      line += style(run);
      run = '';
      style = next;
    }
    run += cell;
  }
  return line + style(run);
};

/** Not by spreading: there may be more than a call takes. */
const longest = (lengths: readonly number[]): number => lengths.reduce((max, length) => Math.max(max, length), 0);

const restOf = (spans: readonly FinishedSpan[], rows: readonly Row[], { more }: Glyphs): string => {
  const drawn = new Set(rows.map(({ node }) => node.span));
  const left = spans.filter((span) => !drawn.has(span));
  const errors = left.filter(({ statusCode }) => statusCode === 'error').length;
  return `${more} ${plural(left.length, 'more span')}${errors === 0 ? '' : `, ${plural(errors, 'error')} among them`}; --limit ${spans.length} draws all`;
};

/** The text; every line ends in a line break. */
export const drawWaterfall = (
  summary: TraceSummary,
  archived: readonly ArchivedSpan[],
  { width: wanted, glyphs, isColoured, maxSpans, isFull, notes }: WaterfallOptions,
): string => {
  const palette = isColoured ? COLOURED : PLAIN;
  const width = Math.max(MIN_WIDTH, wanted);
  const extent: Extent = summary;
  const maxLabel = Math.floor(width * LABEL_SHARE);
  const spans = archived.map((span) => new ObjectView().of(span));
  const rows = rowsOf(spans, glyphs, levelsIn(maxLabel), maxSpans);
  const longestCpu = longest(rows.map((row) => cpuOf(row, glyphs).length));
  // Where there is no room for both, the bars are worth more.
  const cpuColumns = width >= CPU_WIDTH ? Math.min(longestCpu, MAX_CPU_COLUMNS) : 0;
  const longestDuration = longest(rows.map((row) => durationOf(row, glyphs).length));
  const durationColumns = Math.max(cpuColumns === 0 ? 0 : WALL.length, longestDuration);
  const cpuPart = (text: string): string => (cpuColumns === 0 ? '' : `${GAP}${text.padStart(cpuColumns)}`);
  const fixed = durationColumns + cpuPart('').length + GAP.length * 2;
  const labels = Math.min(maxLabel, longest(rows.map((row) => labelWidth(row, glyphs))));
  const bar = width - labels - fixed;

  const lines = header(summary, spans, glyphs).map(([text, style]) => {
    const line = cut(text, width, glyphs.more);
    return style === undefined ? line : palette[style](line);
  });
  const wall = cpuColumns === 0 ? '' : WALL;
  const times = `${' '.repeat(labels)}${GAP}${wall.padStart(durationColumns)}${cpuPart(CPU)}${GAP}`;
  lines.push('', palette.dim(`${times}${scaleOf(extent, bar, glyphs)}`));
  lines.push(
    ...drawTree(rows, spans.length, {
      palette,
      label: (row) => drawLabel(row, row.node.span === undefined ? width : labels, glyphs, palette),
      columns: (row, span) => [
        durationOf(row, glyphs).padStart(durationColumns) + cpuPart(cpuOf(row, glyphs)),
        drawBar(span, extent, bar, glyphs, palette),
      ],
      details: ({ trunk }, span) => {
        const left = cut(trunk, maxLabel, '');
        return detailsOf(span, extent, isFull, glyphs, notes?.get(span.spanId)).map(
          ({ text, style }) => palette.dim(left) + palette[style](cut(text, width - left.length, glyphs.more)),
        );
      },
      rest: () => restOf(spans, rows, glyphs),
    }),
  );
  return `${lines.join('\n')}\n`;
};
