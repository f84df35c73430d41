// Draws a waterfall: the rows that are in sight, the ruler above them with the moment that is pointed at, and the links of the selected span, a curve
// from bar to bar, to the edge where the other end is out of sight. Must touch no more than these rows: a frame of a trace of 20,000 spans takes as
// long as one of fifty.

import type { TraceAnswer } from '../../../../api/trace/answers.js';
import { duration } from '../../../shell/texts.js';
import { type Colors, serviceColor } from './colors.js';
import type { SpanCpu } from './details.js';
import { type Axis, axisOf, type Range, ticksOf } from './time-axis.js';

export const RULER_HEIGHT = 22;
const RULER_FONT = '11px system-ui, sans-serif';

export const drawRuler = (
  context: CanvasRenderingContext2D,
  range: Range,
  axis: Axis,
  pointedUs: number | undefined,
  colors: Colors,
): void => {
  context.fillStyle = colors.background;
  context.fillRect(0, 0, axis.width, RULER_HEIGHT);
  context.font = RULER_FONT;
  context.textBaseline = 'middle';
  context.fillStyle = colors.muted;
  for (const us of ticksOf(range, axis)) {
    const x = Math.round(axis.xOf(us));
    context.fillRect(x, RULER_HEIGHT - 5, 1, 5);
    const text = us === 0 ? '0' : duration(us);
    const { width } = context.measureText(text);
    context.fillText(text, x + 3 + width > axis.width ? x - 3 - width : x + 3, RULER_HEIGHT / 2);
  }
  if (pointedUs === undefined || pointedUs < range.fromUs || pointedUs > range.toUs) return;
  const text = duration(pointedUs);
  const { width } = context.measureText(text);
  const x = axis.xOf(pointedUs);
  const left = Math.min(x + 2, axis.width - width - 8);
  context.fillStyle = colors.accent;
  context.fillRect(x, 0, 1, RULER_HEIGHT);
  context.fillRect(left, 1, width + 8, RULER_HEIGHT - 4);
  context.fillStyle = colors['on-accent'];
  context.fillText(text, left + 4, RULER_HEIGHT / 2 - 1);
};

/** Curves of one span. */
const MAX_DRAWN_LINKS = 200;

/** A link between two spans of a trace, by their places. */
export interface InnerLink {
  readonly from: number;
  readonly to: number;
}

export const drawLinks = (
  context: CanvasRenderingContext2D,
  trace: TraceAnswer,
  links: readonly InnerLink[],
  axis: Axis,
  /** The middle of a span's row; undefined where it is collapsed. */
  yOf: (place: number) => number | undefined,
  colors: Colors,
): void => {
  context.strokeStyle = colors.accent;
  context.fillStyle = colors.accent;
  context.lineWidth = 1.5;
  for (const { from, to } of links.slice(0, MAX_DRAWN_LINKS)) {
    const [fromY, toY] = [yOf(from), yOf(to)];
    if (fromY === undefined || toY === undefined) continue;
    const [fromX, toX] = [barOf(trace, from, axis).from, barOf(trace, to, axis).from];
    const bend = Math.min(fromX, toX) - ROW;
    context.beginPath();
    context.moveTo(fromX, fromY);
    context.bezierCurveTo(bend, fromY, bend, toY, toX, toY);
    context.stroke();
    context.beginPath();
    context.moveTo(toX, toY);
    context.lineTo(toX - 7, toY - 4);
    context.lineTo(toX - 7, toY + 4);
    context.fill();
  }
};

export const ROW = 20;
const INDENT = 12;
const DEEPEST = 12;
const FONT = '12px system-ui, sans-serif';
/** Room for the text of a duration. */
const TEXT_WIDTH = 60;
const MAX_CHARACTERS = 200;

/** What is shown of a trace now. */
interface Sight extends Range {
  /** Pixels scrolled. */
  readonly top: number;
  readonly selected: number;
  readonly found: ReadonlySet<number>;
  readonly collapsed: ReadonlySet<number>;
  /** Where the pointer is: a span and a moment. */
  readonly pointed?: { readonly place: number; readonly us: number };
}

/** The parts of a drawing that stay while one scrolls. */
interface Drawable {
  readonly trace: TraceAnswer;
  readonly rows: Int32Array;
  readonly depths: Int32Array;
  readonly isParent: Uint8Array;
  /** Spans with links, to or from elsewhere. */
  readonly linked: ReadonlySet<number>;
  readonly cpu: ReadonlyMap<number, SpanCpu> | undefined;
}

interface Bar {
  readonly from: number;
  readonly to: number;
}

/** The rows in sight. */
const rowsInSight = (count: number, top: number, height: number): readonly [first: number, end: number] => [
  Math.max(0, Math.floor(top / ROW)),
  Math.min(count, Math.ceil((top + height) / ROW)),
];

/** The pixels of a span's bar, clipped to the time in sight. */
const barOf = ({ spans }: TraceAnswer, place: number, axis: Axis): Bar => {
  const x = axis.xOf(spans.startUs[place]);
  const length = Math.max(2, spans.durationUs[place] * axis.scale);
  return { from: Math.max(axis.left, x), to: Math.min(axis.width - 2, x + length) };
};

const drawBar = (
  context: CanvasRenderingContext2D,
  { trace: { spans }, cpu }: Drawable,
  place: number,
  y: number,
  { from, to }: Bar,
  colors: Colors,
): void => {
  context.fillStyle = spans.isError[place] ? colors.bad : colors[serviceColor(spans.service[place])];
  context.fillRect(from, y + 5, Math.max(2, to - from), ROW - 10);
  const cpuNs = cpu?.get(place)?.cpuNs;
  if (cpuNs !== undefined && spans.durationUs[place] > 0) {
    // The share of the span's time, not when it was: that the sums do not tell.
    context.fillStyle = colors.warn;
    context.fillRect(from, y + 2, Math.min(1, cpuNs / 1000 / spans.durationUs[place]) * (to - from), 3);
  }
  if (spans.isCritical[place]) {
    context.fillStyle = colors.text;
    context.fillRect(from, y + ROW - 4, Math.max(2, to - from), 2);
  }
};

const drawDuration = (
  context: CanvasRenderingContext2D,
  us: number,
  y: number,
  { from, to }: Bar,
  { left, width }: Axis,
  colors: Colors,
): void => {
  const hasRoom = to + TEXT_WIDTH < width;
  const isWithin = !hasRoom && to - from > TEXT_WIDTH + 10;
  context.fillStyle = isWithin ? colors['on-accent'] : colors.muted;
  const x = hasRoom ? Math.max(left, to) + 4 : isWithin ? to - TEXT_WIDTH : Math.max(left, from - TEXT_WIDTH);
  context.fillText(duration(us), x, y + ROW / 2);
};

const drawLabel = (
  context: CanvasRenderingContext2D,
  { y, depth, left }: { readonly y: number; readonly depth: number; readonly left: number },
  name: string,
  { mark, color, background }: { readonly mark: string; readonly color: string; readonly background: string },
): void => {
  context.fillStyle = background;
  context.fillRect(0, y, left - 4, ROW);
  context.fillStyle = color;
  const x = 4 + Math.min(depth, DEEPEST) * INDENT;
  if (mark !== '') context.fillText(mark, x, y + ROW / 2);
  context.save();
  context.beginPath();
  context.rect(x + 12, y, left - x - 18, ROW);
  context.clip();
  context.fillText(name.slice(0, MAX_CHARACTERS), x + 12, y + ROW / 2);
  context.restore();
};

/** Draw what is in sight. */
export const drawWaterfall = (
  context: CanvasRenderingContext2D,
  drawable: Drawable,
  sight: Sight,
  colors: Colors,
  { width, height }: { readonly width: number; readonly height: number },
): void => {
  const { trace, rows, depths, isParent, linked } = drawable;
  const { top, selected, found, collapsed, pointed } = sight;
  const { spans, names } = trace;
  const axis = axisOf(sight, width);
  context.fillStyle = colors.background;
  context.fillRect(0, 0, width, height);
  context.font = FONT;
  context.textBaseline = 'middle';
  context.fillStyle = colors.border;
  for (const us of ticksOf(sight, axis)) context.fillRect(Math.round(axis.xOf(us)), 0, 1, height);
  const [first, end] = rowsInSight(rows.length, top, height);
  for (let row = first; row < end; row++) {
    const place = rows[row];
    const y = row * ROW - top;
    const isMarked = found.has(place) || place === pointed?.place;
    const background = place === selected ? colors.border : isMarked ? colors.surface : colors.background;
    if (place === selected || isMarked) {
      context.fillStyle = background;
      context.fillRect(0, y, width, ROW);
    }
    const bar = barOf(trace, place, axis);
    if (bar.to >= axis.left && bar.from <= width && bar.to > bar.from - 2)
      drawBar(context, drawable, place, y, bar, colors);
    drawDuration(context, spans.durationUs[place], y, bar, axis, colors);
    const name = names[spans.name[place]];
    drawLabel(context, { y, depth: depths[place], left: axis.left }, linked.has(place) ? `⇄ ${name}` : name, {
      mark: isParent[place] ? (collapsed.has(place) ? '▸' : '▾') : '',
      color: spans.isError[place] ? colors.bad : colors.text,
      background,
    });
  }
  if (pointed === undefined) return;
  context.fillStyle = colors.accent;
  context.fillRect(axis.xOf(pointed.us), 0, 1, height);
};

/** Where a pixel of the row's label collapses it. */
export const markAt = (x: number, depth: number): boolean => {
  const start = 4 + Math.min(depth, DEEPEST) * INDENT;
  return x >= start - 2 && x <= start + 12;
};
