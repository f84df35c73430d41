// Duration over time of all traces that a search finds: a drag, or the keys, choose a window of it, which the list then shows; a click opens a trace.
// Every point is drawn once into pixels, then the axes: a hundred thousand points must cost milliseconds, so no path is made of them.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { goTo, type ViewProps } from '../../../shell/location.js';
import { bareMoment, duration, moment } from '../../../shell/texts.js';
import { cssColor, prepareCanvas, useTheme, useWidth } from '../../../shell/theme.js';
import { pointsSearchOf, useTraceLinks } from '../address.js';
import {
  type Box,
  boxOf,
  countIn,
  MARGIN,
  MAX_POINTS,
  type Points,
  pointAt,
  type Scales,
  scalesFor,
  usePoints,
  type Window,
  windowIn,
  windowOf,
  windowText,
  xOf,
  yOf,
} from './points.js';
import { useCross, useDrag } from './use-box.js';
import './scatter.css';

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
const drawScatter = (context: CanvasRenderingContext2D, points: Points, scales: Scales): void => {
  const ratio = context.canvas.width / scales.width;
  context.setTransform(1, 0, 0, 1, 0, 0);
  drawPoints(context, points, scales, ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  if (points.count > 0) drawAxes(context, scales);
};

const HEIGHT = 190;
/** Pixels around a point in which it is meant. */
const REACH = 10;

const windowWords = ({ fromUs, toUs, shortestUs, longestUs }: Window): string =>
  `${moment(fromUs)} to ${moment(toUs)}, ${duration(shortestUs)} to ${duration(longestUs)}`;

const pointWords = (points: Points, point: number): string =>
  `${points.nameOf(point) || '(no name)'}, ${duration(points.durationUs[point])}, ${moment(points.startUs[point])}${points.isError[point] === 1 ? ', failed' : ''}`;

const Frame = ({ box: { left, top, right, bottom } }: { box: Box }) => (
  <div
    class="window"
    style={{ left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px` }}
  />
);

export const Scatter = ({ parameters }: Pick<ViewProps, 'parameters'>) => {
  const { points, isLoading, isCut, error, stop } = usePoints(pointsSearchOf(parameters));
  const [theme] = useTheme();
  const links = useTraceLinks();
  const plot = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(plot);
  const [hovered, setHovered] = useState<number>();
  const scales = useMemo(() => scalesFor(points, Math.max(1, width), HEIGHT), [points, width]);
  const picked = windowOf(parameters.picked);

  useEffect(() => {
    if (width > 0) drawScatter(prepareCanvas(canvas.current as HTMLCanvasElement, width, HEIGHT), points, scales);
  }, [points, scales, theme]);

  const pick = (box: Box | undefined): void => {
    const window = box === undefined ? undefined : windowText(windowIn(scales, box));
    goTo('traces', { ...parameters, picked: window, before: undefined });
  };
  const open = (x: number, y: number, reach = REACH): void => {
    const point = pointAt(points, scales, x, y, reach);
    if (point !== undefined) links.goTo(points.idOf(point));
  };
  const drag = useDrag({
    onBox: pick,
    onClick: open,
    onHover: (x, y) => setHovered(pointAt(points, scales, x, y, REACH)),
  });
  // By key no pixel is hit exactly: the nearest one of all is meant.
  const cross = useCross(scales, { onBox: pick, onOpen: (x, y) => open(x, y, Number.POSITIVE_INFINITY) });
  const drawn = drag.box ?? cross.box;
  const shown = drawn ?? (picked && boxOf(scales, picked));
  const near = cross.at && pointAt(points, scales, cross.at.x, cross.at.y, REACH);
  const pointed = near ?? hovered;
  const words =
    drawn !== undefined
      ? `${countIn(points, windowIn(scales, drawn))} traces, ${windowWords(windowIn(scales, drawn))}`
      : pointed !== undefined && pointed < points.count
        ? pointWords(points, pointed)
        : '';
  return (
    <section class="scatter" aria-label="duration over time">
      <p>
        {points.count} points{isCut && !isLoading && (points.count >= MAX_POINTS ? ', the newest' : ', not all')}
        {isLoading && (
          <>
            {' '}
            <span role="status">loading more …</span>{' '}
            <button type="button" onClick={stop}>
              Stop
            </button>
          </>
        )}
        {picked !== undefined && (
          <>
            {' · '}
            {countIn(points, picked)} in the window, {windowWords(picked)}{' '}
            <button type="button" onClick={() => pick(undefined)}>
              Show all
            </button>
          </>
        )}
      </p>
      {error !== undefined && <p role="alert">{error.message}</p>}
      <div
        class="plot"
        ref={plot}
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: its keys choose a window.
        tabIndex={0}
        aria-label="duration over time; arrow keys move, the space bar begins a window, Enter chooses it or opens the nearest trace"
        {...drag.handlers}
        {...cross.handlers}
        onPointerLeave={() => setHovered(undefined)}
      >
        <canvas ref={canvas} />
        {shown !== undefined && <Frame box={shown} />}
        {cross.at !== undefined && <div class="cross" style={{ left: `${cross.at.x}px`, top: `${cross.at.y}px` }} />}
      </div>
      <p class="muted" role={cross.at === undefined ? undefined : 'status'}>
        {words || 'Drag to choose, click a point to open its trace.'}
      </p>
    </section>
  );
};
