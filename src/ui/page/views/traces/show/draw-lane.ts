// Draws the process's lane above the waterfall, on the same axis of time: garbage collections, and when the event loop was busy for long.
import type { LaneAnswer } from '../../../../api/trace/answers.js';
import { cssColor } from '../../../shell/theme.js';
import { labelWidth } from './draw-waterfall.js';

export const LANE_HEIGHT = 36;
const ROW = 16;

export const drawLane = (
  context: CanvasRenderingContext2D,
  lane: readonly LaneAnswer[],
  { fromUs, toUs }: { readonly fromUs: number; readonly toUs: number },
  width: number,
): void => {
  const left = labelWidth(width);
  const scale = (width - left - 8) / Math.max(toUs - fromUs, 1e-3);
  context.fillStyle = cssColor('--background');
  context.fillRect(0, 0, width, LANE_HEIGHT);
  context.font = '12px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.fillStyle = cssColor('--muted');
  context.fillText('garbage collection', 4, ROW / 2 + 1);
  context.fillText('event loop busy', 4, ROW + ROW / 2 + 3);
  const colors = { gc: cssColor('--gc'), busy: cssColor('--loop') };
  const onColor = cssColor('--on-accent');
  for (const { kind, startUs, durationUs, holders } of lane) {
    if (kind === 'pool') continue;
    const x = left + (startUs - fromUs) * scale;
    const from = Math.max(left, x);
    const to = Math.min(width - 2, x + Math.max(2, durationUs * scale));
    if (to <= left || from >= width) continue;
    const y = kind === 'gc' ? 1 : ROW + 3;
    context.fillStyle = colors[kind];
    context.fillRect(from, y, to - from, ROW - 2);
    const [holder] = holders;
    if (holder === undefined || to - from < 40) continue;
    context.save();
    context.beginPath();
    context.rect(from + 3, y, to - from - 6, ROW);
    context.clip();
    context.fillStyle = onColor;
    context.fillText(holder.name, from + 3, y + ROW / 2);
    context.restore();
  }
};
