// Where in a trace a span lies, as a bar with marks where its events are. Half columns are drawn where the glyphs have them, so that short
// spans behind each other do not look like one.
import type { FinishedSpan } from '../../record/finished-span.js';
import type { Glyphs, Palette } from './palette.js';

/** The stretch of time that the width stands for. */
export interface Extent {
  readonly startUnixNs: bigint;
  readonly durationNs: bigint;
}

const BLANK = ' ';

/** Nanoseconds behind the start of the trace. */
export const sinceStart = (unixNs: bigint, { startUnixNs }: Extent): number => Number(unixNs - startUnixNs);

/** The columns of a span's bar, `width` of them. */
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
export const drawBar = (
  span: FinishedSpan,
  extent: Extent,
  width: number,
  glyphs: Glyphs,
  palette: Palette,
): string => {
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
