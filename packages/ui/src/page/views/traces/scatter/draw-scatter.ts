// Draws the scatter: every point once into pixels, then the axes. A hundred thousand points must cost milliseconds, so no path is made of them.
import { cssColor } from '../../../shell/theme.js';
import { bareMoment, duration } from '../../../shell/units.js';
import type { Points } from './points.js';
import { MARGIN, type Scales, xOf, yOf } from './scales.js';

const FONT = '11px system-ui, sans-serif';
/** Sides of a point in CSS pixels: fewer points are larger. */
const SIDES = { few: 4, many: 2 } as const;
const FEW = 5000;
/** Room for the text of a moment. */
const TICK_WIDTH = 150;
const MINUTE_US = 60e6;
const DAY_US = 24 * 60 * MINUTE_US;

/** A moment on an axis of such a length, whose first one names the day and the zone. */
const tickText = (us: number, lengthUs: number, isFirst: boolean): string => {
  const text = bareMoment(Math.max(0, us));
  if (lengthUs > 3 * DAY_US) return text.slice(0, 10);
  const time = text.slice(11, lengthUs > MINUTE_US ? 19 : 23);
  return isFirst ? `${text.slice(0, 10)} ${time} UTC` : time;
};

/** A color of the style sheet as a pixel of a canvas. */
const pixelOf = (context: CanvasRenderingContext2D, name: string): number => {
  // However it is written there, the context gives it back as `#rrggbb`.
  context.fillStyle = cssColor(name);
  const rgb = Number.parseInt(String(context.fillStyle).slice(1), 16);
  return ((0xff << 24) | ((rgb & 0xff) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
};

const drawPoints = (context: CanvasRenderingContext2D, points: Points, scales: Scales, ratio: number): void => {
  const { canvas } = context;
  const image = context.createImageData(canvas.width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill(pixelOf(context, '--background'));
  const side = Math.max(1, Math.round((points.count > FEW ? SIDES.many : SIDES.few) * ratio));
  const colors = ['--series-1', '--bad'].map((name) => pixelOf(context, name));
  // Those that failed lie above the others.
  for (const isError of [0, 1]) {
    const color = colors[isError];
    for (let i = 0; i < points.count; i++) {
      if (points.isError[i] !== isError) continue;
      const left = Math.round(xOf(scales, points.startUs[i]) * ratio - side / 2);
      const top = Math.round(yOf(scales, points.durationUs[i]) * ratio - side / 2);
      for (let y = top; y < top + side; y++)
        pixels.fill(color, y * canvas.width + left, y * canvas.width + left + side);
    }
  }
  context.putImageData(image, 0, 0);
};

const drawAxes = (context: CanvasRenderingContext2D, scales: Scales): void => {
  const { width, height, lowest, highest, fromUs, toUs } = scales;
  context.font = FONT;
  context.textBaseline = 'middle';
  context.fillStyle = cssColor('--muted');
  context.strokeStyle = cssColor('--border');
  context.lineWidth = 1;
  context.beginPath();
  for (let power = lowest; power <= highest; power++) {
    const y = Math.round(yOf(scales, 10 ** power)) + 0.5;
    context.moveTo(MARGIN.left, y);
    context.lineTo(width - MARGIN.right, y);
    context.fillText(duration(10 ** power).replace(/\.0+ /, ' '), 2, y);
  }
  context.stroke();
  // The first text is longer than the others.
  const ticks = Math.max(1, Math.floor((width - MARGIN.left) / TICK_WIDTH));
  for (let tick = 0; tick < ticks; tick++) {
    const us = fromUs + ((toUs - fromUs) * (tick === 0 ? 0 : tick + 0.3)) / (ticks + 0.3);
    context.fillText(tickText(us, toUs - fromUs, tick === 0), xOf(scales, us), height - MARGIN.bottom / 2);
  }
};

/** Draw all points on a canvas of the size of the scales, which is as sharp as the screen. */
export const drawScatter = (context: CanvasRenderingContext2D, points: Points, scales: Scales): void => {
  const ratio = context.canvas.width / scales.width;
  context.setTransform(1, 0, 0, 1, 0, 0);
  drawPoints(context, points, scales, ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  if (points.count > 0) drawAxes(context, scales);
};
