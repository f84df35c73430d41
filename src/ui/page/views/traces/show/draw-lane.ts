// Draws the lane of one process below the waterfall, on the same axis of time: garbage collections, and when the event loop was busy for long.
import type { LaneAnswer, LaneStretchAnswer } from '../../../../api/trace/answers.js';
import type { Colors } from './colors.js';
import type { Axis } from './time-axis.js';

export const LANE_HEIGHT = 36;
const ROW = 16;
const FONT = '12px system-ui, sans-serif';
/** Pixels of a bar that a name fits in. */
const NAMED = 40;
/** Pixels around a narrow bar in which it is meant. */
const REACH = 4;

/** The pixels of a stretch. */
const barOf = ({ startUs, durationUs }: LaneStretchAnswer, axis: Axis): readonly [from: number, to: number] => {
  const x = axis.xOf(startUs);
  return [Math.max(axis.left, x), Math.min(axis.width - 2, x + Math.max(2, durationUs * axis.scale))];
};

const topOf = (kind: LaneStretchAnswer['kind']): number => (kind === 'gc' ? 1 : ROW + 3);

export const drawLane = (
  context: CanvasRenderingContext2D,
  { stretches }: LaneAnswer,
  chosen: LaneStretchAnswer | undefined,
  axis: Axis,
  colors: Colors,
): void => {
  context.fillStyle = colors.background;
  context.fillRect(0, 0, axis.width, LANE_HEIGHT);
  context.font = FONT;
  context.textBaseline = 'middle';
  for (const stretch of stretches) {
    if (stretch.kind === 'pool') continue;
    const [from, to] = barOf(stretch, axis);
    if (to <= axis.left || from >= axis.width) continue;
    const y = topOf(stretch.kind);
    context.fillStyle = stretch.kind === 'gc' ? colors.gc : colors.loop;
    context.fillRect(from, y, to - from, ROW - 2);
    if (stretch === chosen) {
      context.strokeStyle = colors.text;
      context.lineWidth = 2;
      context.strokeRect(from - 1, y, to - from + 2, ROW - 2);
    }
    const [holder] = stretch.holders;
    if (holder === undefined || to - from < NAMED) continue;
    context.save();
    context.beginPath();
    context.rect(from + 3, y, to - from - 6, ROW);
    context.clip();
    context.fillStyle = colors['on-accent'];
    context.fillText(holder.name, from + 3, y + ROW / 2);
    context.restore();
  }
  context.fillStyle = colors.background;
  context.fillRect(0, 0, axis.left - 4, LANE_HEIGHT);
  context.fillStyle = colors.muted;
  context.fillText('garbage collection', 4, ROW / 2 + 1);
  context.fillText('event loop busy', 4, ROW + ROW / 2 + 3);
};

/** The stretch at a pixel; of several narrow ones the nearest. */
export const stretchAt = (
  { stretches }: LaneAnswer,
  axis: Axis,
  x: number,
  y: number,
): LaneStretchAnswer | undefined => {
  const kind = y < ROW + 2 ? 'gc' : 'busy';
  let nearest: LaneStretchAnswer | undefined;
  let distance = REACH;
  for (const stretch of stretches) {
    if (stretch.kind !== kind) continue;
    const [from, to] = barOf(stretch, axis);
    if (to <= axis.left || from >= axis.width) continue;
    const away = x < from ? from - x : Math.max(0, x - to);
    if (away > distance) continue;
    nearest = stretch;
    distance = away;
  }
  return nearest;
};
