// The waterfall: a canvas as large as the window onto it, which scrolls over any number of rows. Every change is one drawing in the next frame.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { TraceAnswer } from '../../../../api/trace/answers.js';
import { useKeys } from '../../../shell/keys.js';
import { useTheme } from '../../../shell/theme.js';
import { duration } from '../../../shell/units.js';
import { drawLane, LANE_HEIGHT } from './draw-lane.js';
import { colorsNow, drawWaterfall, labelWidth, markAt, prepare, ROW } from './draw-waterfall.js';
import { ancestorsOf, depthsOf, parentsIn, visibleRows } from './rows.js';

const HEIGHT = 520;

interface Props {
  readonly trace: TraceAnswer;
  readonly selected: number;
  readonly select: (place: number) => void;
  readonly found: ReadonlySet<number>;
}

interface Range {
  readonly fromUs: number;
  readonly toUs: number;
}

export const Waterfall = ({ trace, selected, select, found }: Props) => {
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const lane = useRef<HTMLCanvasElement>(null);
  const [theme] = useTheme();
  const [collapsed, setCollapsed] = useState<ReadonlySet<number>>(new Set());
  const [range, setRange] = useState<Range>({ fromUs: 0, toUs: trace.durationUs });
  const [width, setWidth] = useState(0);
  const [depths, isParent] = useMemo(() => [depthsOf(trace.spans), parentsIn(trace.spans)], [trace]);
  const rows = useMemo(() => visibleRows(trace.spans, collapsed), [trace, collapsed]);
  const height = Math.min(HEIGHT, Math.max(ROW * 3, rows.length * ROW));

  useEffect(() => {
    const element = scroller.current as HTMLDivElement;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    if (width === 0) return;
    const element = scroller.current as HTMLDivElement;
    const colors = colorsNow();
    let frame = 0;
    const draw = (): void => {
      frame = 0;
      const context = prepare(canvas.current as HTMLCanvasElement, width, height);
      const sight = { ...range, top: element.scrollTop, selected, found, collapsed };
      drawWaterfall(context, { trace, rows, depths, isParent }, sight, colors, { width, height });
    };
    const later = (): void => {
      frame ||= requestAnimationFrame(draw);
    };
    later();
    if (lane.current !== null) drawLane(prepare(lane.current, width, LANE_HEIGHT), trace.lane, range, width);
    element.addEventListener('scroll', later, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      element.removeEventListener('scroll', later);
    };
  }, [trace, rows, range, selected, found, width, height, theme]);

  // What is selected is in sight, whatever was collapsed above it.
  useEffect(() => {
    const above = ancestorsOf(trace.spans, selected).filter((place) => collapsed.has(place));
    if (above.length > 0) {
      setCollapsed(new Set([...collapsed].filter((place) => !above.includes(place))));
      return;
    }
    const element = scroller.current as HTMLDivElement;
    const y = rows.indexOf(selected) * ROW;
    if (y < element.scrollTop) element.scrollTop = y;
    if (y + ROW > element.scrollTop + height) element.scrollTop = y + ROW - height;
  }, [selected, rows]);

  const zoom = (factor: number, at = (range.fromUs + range.toUs) / 2): void => {
    const length = Math.min(trace.durationUs, Math.max(1, (range.toUs - range.fromUs) * factor));
    const part = (at - range.fromUs) / (range.toUs - range.fromUs);
    const fromUs = Math.max(0, Math.min(trace.durationUs - length, at - part * length));
    setRange({ fromUs, toUs: fromUs + length });
  };
  const pan = (part: number): void => {
    const length = range.toUs - range.fromUs;
    const fromUs = Math.max(0, Math.min(trace.durationUs - length, range.fromUs + part * length));
    setRange({ fromUs, toUs: fromUs + length });
  };
  const toggle = (place: number): void => {
    if (isParent[place] === 0) return;
    const next = new Set(collapsed);
    if (!next.delete(place)) next.add(place);
    setCollapsed(next);
  };
  const step = (by: number): void => {
    const row = rows.indexOf(selected) + by;
    if (row >= 0 && row < rows.length) select(rows[row]);
  };

  useKeys([
    { key: 'ArrowDown', does: 'next span', act: () => step(1) },
    { key: 'ArrowUp', does: 'span before', act: () => step(-1) },
    {
      key: 'PageDown',
      does: 'twenty spans on',
      act: () => step(Math.min(20, rows.length - 1 - rows.indexOf(selected))),
    },
    { key: 'PageUp', does: 'twenty spans back', act: () => step(-Math.min(20, rows.indexOf(selected))) },
    {
      key: 'ArrowRight',
      does: 'open what is below the span',
      act: () => collapsed.has(selected) && toggle(selected),
    },
    {
      key: 'ArrowLeft',
      does: 'collapse it, or go to its parent',
      act: () => {
        if (isParent[selected] === 1 && !collapsed.has(selected)) toggle(selected);
        else if (trace.spans.parent[selected] >= 0) select(trace.spans.parent[selected]);
      },
    },
    { key: '+', does: 'zoom in', act: () => zoom(0.5) },
    { key: '-', does: 'zoom out', act: () => zoom(2) },
    { key: '0', does: 'show the whole time', act: () => setRange({ fromUs: 0, toUs: trace.durationUs }) },
    { key: '[', does: 'earlier', act: () => pan(-0.25) },
    { key: ']', does: 'later', act: () => pan(0.25) },
    {
      key: 'z',
      does: 'zoom to the span',
      act: () => {
        const fromUs = trace.spans.startUs[selected];
        setRange({ fromUs, toUs: fromUs + Math.max(1, trace.spans.durationUs[selected]) });
      },
    },
  ]);

  const placeAt = (event: MouseEvent): number | undefined => {
    const element = scroller.current as HTMLDivElement;
    const y = event.clientY - element.getBoundingClientRect().top + element.scrollTop;
    return rows[Math.floor(y / ROW)];
  };
  const click = (event: MouseEvent): void => {
    const place = placeAt(event);
    if (place === undefined) return;
    const x = event.clientX - (scroller.current as HTMLDivElement).getBoundingClientRect().left;
    if (isParent[place] === 1 && markAt(x, depths[place])) toggle(place);
    else select(place);
  };
  const wheel = (event: WheelEvent): void => {
    if (!event.ctrlKey && !event.shiftKey) return;
    event.preventDefault();
    if (event.shiftKey) {
      pan(Math.sign(event.deltaY + event.deltaX) / 8);
      return;
    }
    const left = labelWidth(width);
    const x = event.clientX - (scroller.current as HTMLDivElement).getBoundingClientRect().left;
    zoom(event.deltaY > 0 ? 1.25 : 0.8, range.fromUs + ((x - left) / (width - left - 8)) * (range.toUs - range.fromUs));
  };

  const name = trace.names[trace.spans.name[selected]];
  return (
    <div class="waterfall">
      <p class="muted">
        {duration(range.fromUs)} to {duration(range.toUs)} of {duration(trace.durationUs)}, {rows.length} rows. Ctrl and
        the wheel zoom, shift pans, ? lists the keys.
      </p>
      {trace.lane.length > 0 && (
        <canvas
          ref={lane}
          role="img"
          aria-label={`${trace.lane.length} garbage collections and busy stretches of the event loop`}
        />
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys work on the whole page. */}
      <div
        ref={scroller}
        class="rows"
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which a keyboard must be able to do.
        tabIndex={0}
        aria-label="spans by time; arrow keys go through them"
        style={{ height: `${height}px` }}
        onClick={click}
        onWheel={wheel}
      >
        <div style={{ height: `${rows.length * ROW}px` }}>
          <canvas ref={canvas} class="sticky" />
        </div>
      </div>
      <p class="visually-hidden" role="status">
        {name}, {duration(trace.spans.durationUs[selected])}
      </p>
    </div>
  );
};
