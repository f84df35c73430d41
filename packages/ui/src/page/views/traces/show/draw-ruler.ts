// Draws the ruler above the waterfall: the moments of its lines, and the one that is pointed at.
import { duration } from '../../../shell/units.js';
import type { Colors } from './colors.js';
import { type Axis, ticksOf } from './time-axis.js';
import type { Range } from './use-range.js';

export const RULER_HEIGHT = 22;
const FONT = '11px system-ui, sans-serif';

export const drawRuler = (
  context: CanvasRenderingContext2D,
  range: Range,
  axis: Axis,
  pointedUs: number | undefined,
  colors: Colors,
): void => {
  context.fillStyle = colors.background;
  context.fillRect(0, 0, axis.width, RULER_HEIGHT);
  context.font = FONT;
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
