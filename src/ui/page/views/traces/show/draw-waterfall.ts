// Draws the rows of a waterfall that are in sight. Must touch no more than these rows: a frame of a trace of 20,000 spans takes as long as one
// of fifty.
import type { TraceAnswer } from '../../../../api/trace/answers.js';
import { cssColor } from '../../../shell/theme.js';
import { duration } from '../../../shell/units.js';

export const ROW = 20;
const INDENT = 12;
const DEEPEST = 12;
const FONT = '12px system-ui, sans-serif';

/** What is shown of a trace now. Times are microseconds since it began. */
export interface Sight {
  readonly fromUs: number;
  readonly toUs: number;
  /** Pixels scrolled. */
  readonly top: number;
  readonly selected: number;
  readonly found: ReadonlySet<number>;
  readonly collapsed: ReadonlySet<number>;
}

/** The parts of a drawing that stay while one scrolls. */
export interface Drawable {
  readonly trace: TraceAnswer;
  readonly rows: Int32Array;
  readonly depths: Int32Array;
  readonly isParent: Uint8Array;
}

/** Colors of now: reading one from the style sheet costs as much as a row. */
export interface Colors {
  readonly [name: string]: string;
}

const COLORS = ['text', 'muted', 'surface', 'border', 'bad', 'accent', 'on-accent', 'background'];

export const colorsNow = (): Colors =>
  Object.fromEntries([
    ...COLORS.map((name) => [name, cssColor(`--${name}`)]),
    ...[1, 2, 3, 4, 5, 6].map((i) => [`series-${i}`, cssColor(`--series-${i}`)]),
  ]);

/** Make the canvas as sharp as the screen; gives its context in CSS pixels. */
export const prepare = (canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D => {
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext('2d', { alpha: false }) as CanvasRenderingContext2D;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
};

/** Pixels for names; the rest is time. */
export const labelWidth = (width: number): number => Math.round(Math.min(360, width * 0.4));

/** Draw what is in sight. */
export const drawWaterfall = (
  context: CanvasRenderingContext2D,
  { trace, rows, depths, isParent }: Drawable,
  { fromUs, toUs, top, selected, found, collapsed }: Sight,
  colors: Colors,
  { width, height }: { readonly width: number; readonly height: number },
): void => {
  const { spans, names } = trace;
  const left = labelWidth(width);
  const scale = (width - left - 8) / Math.max(toUs - fromUs, 1e-3);
  context.fillStyle = colors.background;
  context.fillRect(0, 0, width, height);
  context.font = FONT;
  context.textBaseline = 'middle';
  const first = Math.max(0, Math.floor(top / ROW));
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW));
  for (let row = first; row < last; row++) {
    const place = rows[row];
    const y = row * ROW - top;
    if (place === selected || found.has(place)) {
      context.fillStyle = place === selected ? colors.border : colors.surface;
      context.fillRect(0, y, width, ROW);
    }
    const x = left + (spans.startUs[place] - fromUs) * scale;
    const length = Math.max(2, spans.durationUs[place] * scale);
    const from = Math.max(left, x);
    const to = Math.min(width - 2, x + length);
    const color = spans.isError[place] ? colors.bad : colors[`series-${1 + (spans.service[place] % 6)}`];
    if (to >= left && from <= width && to > from - 2) {
      context.fillStyle = color;
      context.fillRect(from, y + 5, Math.max(2, to - from), ROW - 10);
      if (spans.isCritical[place]) {
        context.fillStyle = colors.text;
        context.fillRect(from, y + ROW - 4, Math.max(2, to - from), 2);
      }
    }
    const text = duration(spans.durationUs[place]);
    const hasRoom = to + 60 < width;
    const isWithin = !hasRoom && to - from > 70;
    context.fillStyle = isWithin ? colors['on-accent'] : colors.muted;
    const textX = hasRoom ? Math.max(left, to) + 4 : isWithin ? to - 60 : Math.max(left, from - 60);
    context.fillText(text, textX, y + ROW / 2);
    drawLabel(context, { place, y, depth: depths[place], left }, names[spans.name[place]], {
      mark: isParent[place] ? (collapsed.has(place) ? '▸' : '▾') : '',
      color: spans.isError[place] ? colors.bad : colors.text,
      background: place === selected ? colors.border : found.has(place) ? colors.surface : colors.background,
    });
  }
};

const drawLabel = (
  context: CanvasRenderingContext2D,
  { y, depth, left }: { place: number; y: number; depth: number; left: number },
  name: string,
  { mark, color, background }: { mark: string; color: string; background: string },
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
  context.fillText(name.slice(0, 200), x + 12, y + ROW / 2);
  context.restore();
};

/** Where a pixel of the row's label collapses it. */
export const markAt = (x: number, depth: number): boolean => {
  const start = 4 + Math.min(depth, DEEPEST) * INDENT;
  return x >= start - 2 && x <= start + 12;
};
