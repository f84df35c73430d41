// Draws the links of the selected span to others of its trace: a curve from bar to bar. One whose other end is out of sight leads to the edge.
import type { TraceAnswer } from '../../../../api/trace/answers.js';
import type { Colors } from './colors.js';
import { barOf, ROW } from './draw-waterfall.js';
import type { Axis } from './time-axis.js';

/** Curves of one span. */
const MOST = 200;

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
  for (const { from, to } of links.slice(0, MOST)) {
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
