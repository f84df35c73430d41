// Duration over time of all traces that a search finds: a drag, or the keys, choose a window of it, which the list then shows; a click opens a trace.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { goTo, type ViewProps } from '../../../shell/location.js';
import { useTheme } from '../../../shell/theme.js';
import { duration, moment } from '../../../shell/units.js';
import { pointsSearchOf, useTraceLinks } from '../address.js';
import { prepareCanvas } from '../canvas.js';
import { drawScatter } from './draw-scatter.js';
import { MAX_POINTS, type Points, usePoints } from './points.js';
import { type Box, boxOf, countIn, pointAt, scalesFor, type Window, windowIn, windowOf, windowText } from './scales.js';
import { useCross, useDrag } from './use-box.js';
import './scatter.css';

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
  const [width, setWidth] = useState(0);
  const [hovered, setHovered] = useState<number>();
  const scales = useMemo(() => scalesFor(points, Math.max(1, width), HEIGHT), [points, width]);
  const picked = windowOf(parameters.picked);

  useEffect(() => {
    const element = plot.current as HTMLDivElement;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
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
