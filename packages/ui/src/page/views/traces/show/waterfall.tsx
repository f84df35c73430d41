// The waterfall: a canvas as large as the window onto it, which scrolls over any number of rows. Every change is one drawing in the next frame.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { TraceAnswer } from '../../../../api/trace/answers.js';
import { useKeys } from '../../../shell/keys.js';
import { duration } from '../../../shell/texts.js';
import { prepareCanvas, useTheme, useWidth } from '../../../shell/theme.js';
import { colorsOf, Legend } from './colors.js';
import type { CpuOfTrace } from './details.js';
import { drawLinks, drawRuler, drawWaterfall, type InnerLink, markAt, ROW, RULER_HEIGHT } from './draw-waterfall.js';
import { Tooltip, usePanZoom, ZoomBar } from './pan-zoom.js';
import { ancestorsOf, axisOf, depthsOf, parentsIn, useRange, visibleRows } from './time-axis.js';
import { Timelines } from './timelines.js';

const HEIGHT = 520;
const PAGE = 20;

interface Props {
  readonly trace: TraceAnswer;
  readonly selected: number;
  readonly select: (place: number) => void;
  readonly found: ReadonlySet<number>;
  /** Spans with links, to or from elsewhere. */
  readonly linked: ReadonlySet<number>;
  readonly innerLinks: readonly InnerLink[];
  readonly cpu: CpuOfTrace | undefined;
}

interface Pointed {
  readonly place: number;
  readonly us: number;
  readonly x: number;
  readonly y: number;
}

export const Waterfall = ({ trace, selected, select, found, linked, innerLinks, cpu }: Props) => {
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const ruler = useRef<HTMLCanvasElement>(null);
  const [theme] = useTheme();
  const [collapsed, setCollapsed] = useState<ReadonlySet<number>>(new Set());
  const width = useWidth(scroller);
  const [pointed, setPointed] = useState<Pointed>();
  const control = useRange(trace.durationUs);
  const { range } = control;
  const panZoom = usePanZoom(scroller, control, width);
  const [depths, isParent] = useMemo(() => [depthsOf(trace.spans), parentsIn(trace.spans)], [trace]);
  const rows = useMemo(() => visibleRows(trace.spans, collapsed), [trace, collapsed]);
  const height = Math.min(HEIGHT, Math.max(ROW * 3, rows.length * ROW));

  useEffect(() => {
    if (width === 0) return;
    const element = scroller.current as HTMLDivElement;
    const colors = colorsOf(theme);
    const axis = axisOf(range, width);
    const own = innerLinks.filter(({ from, to }) => from === selected || to === selected);
    let frame = 0;
    const draw = (): void => {
      frame = 0;
      // The view may have gone since the frame was asked for.
      if (canvas.current === null || ruler.current === null) return;
      const { scrollTop: top } = element;
      const context = prepareCanvas(canvas.current, width, height);
      const sight = { ...range, top, selected, found, collapsed, pointed };
      const drawable = { trace, rows, depths, isParent, linked, cpu: cpu?.bySpan };
      drawWaterfall(context, drawable, sight, colors, { width, height });
      const yOf = (place: number): number | undefined => {
        const row = rows.indexOf(place);
        return row < 0 ? undefined : row * ROW - top + ROW / 2;
      };
      drawLinks(context, trace, own, axis, yOf, colors);
      const above = prepareCanvas(ruler.current, width, RULER_HEIGHT);
      drawRuler(above, range, axis, pointed?.us, colors);
    };
    const later = (): void => {
      frame ||= requestAnimationFrame(draw);
    };
    later();
    element.addEventListener('scroll', later, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      element.removeEventListener('scroll', later);
    };
  }, [trace, rows, range, selected, found, linked, innerLinks, cpu, pointed, width, height, theme]);

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

  const toggle = (place: number): void => {
    if (isParent[place] === 0) return;
    const next = new Set(collapsed);
    if (!next.delete(place)) next.add(place);
    setCollapsed(next);
  };
  // Keys may come faster than frames: each step goes on from the one before.
  const latest = useRef(selected);
  latest.current = selected;
  const step = (by: number): void => {
    const row = Math.max(0, Math.min(rows.length - 1, rows.indexOf(latest.current) + by));
    latest.current = rows[row];
    select(rows[row]);
  };
  const left = (): void => {
    if (isParent[selected] === 1 && !collapsed.has(selected)) toggle(selected);
    else if (trace.spans.parent[selected] >= 0) select(trace.spans.parent[selected]);
  };
  const showSelected = (): void => control.show(trace.spans.startUs[selected], trace.spans.durationUs[selected]);

  useKeys([
    { key: 'ArrowDown', does: 'next span', act: () => step(1) },
    { key: 'ArrowUp', does: 'span before', act: () => step(-1) },
    { key: 'PageDown', does: 'twenty spans on', act: () => step(PAGE) },
    { key: 'PageUp', does: 'twenty spans back', act: () => step(-PAGE) },
    { key: 'Home', does: 'first span', act: () => step(-rows.length) },
    { key: 'End', does: 'last span', act: () => step(rows.length) },
    { key: 'ArrowRight', does: 'open what is below the span', act: () => collapsed.has(selected) && toggle(selected) },
    { key: 'ArrowLeft', does: 'collapse it, or go to its parent', act: left },
    { key: '+', does: 'zoom in', act: () => control.zoom(0.5) },
    { key: '-', does: 'zoom out', act: () => control.zoom(2) },
    { key: '0', does: 'show the whole time', act: control.showAll },
    { key: '[', does: 'earlier', act: () => control.pan(-0.25) },
    { key: ']', does: 'later', act: () => control.pan(0.25) },
    { key: 'z', does: 'zoom to the span', act: showSelected },
  ]);

  const under = (event: MouseEvent): Pointed | undefined => {
    const element = scroller.current as HTMLDivElement;
    const { left: boxLeft, top } = element.getBoundingClientRect();
    const [x, y] = [event.clientX - boxLeft, event.clientY - top];
    const place = rows[Math.floor((y + element.scrollTop) / ROW)];
    return place === undefined ? undefined : { place, us: axisOf(range, width).usAt(x), x, y };
  };
  const click = (event: MouseEvent): void => {
    const at = under(event);
    if (at === undefined || panZoom.wasDrag()) return;
    if (isParent[at.place] === 1 && markAt(at.x, depths[at.place])) toggle(at.place);
    else select(at.place);
  };
  const move = (event: PointerEvent): void => {
    panZoom.handlers.onPointerMove(event);
    // A finger covers what it points at.
    setPointed(event.pointerType === 'touch' || panZoom.isDragging() ? undefined : under(event));
  };

  return (
    <div class="waterfall">
      <ZoomBar control={control} durationUs={trace.durationUs} rows={rows.length} showSelected={showSelected} />
      <Legend trace={trace} hasCpu={cpu !== undefined} hasLinks={linked.size > 0} />
      <div class="plot">
        <canvas ref={ruler} />
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
          {...panZoom.handlers}
          onPointerMove={move}
          onPointerLeave={() => setPointed(undefined)}
        >
          <div style={{ height: `${rows.length * ROW}px` }}>
            <canvas ref={canvas} class="sticky" />
          </div>
        </div>
        {pointed !== undefined && (
          <Tooltip x={pointed.x} y={pointed.y + RULER_HEIGHT} width={width}>
            <SpanWords trace={trace} place={pointed.place} cpu={cpu} />
          </Tooltip>
        )}
      </div>
      <Timelines timelines={trace.timelines} control={control} width={width} />
      <p class="visually-hidden" role="status">
        {trace.names[trace.spans.name[selected]]}, {duration(trace.spans.durationUs[selected])}
      </p>
    </div>
  );
};

const SpanWords = ({
  trace: { spans, names, services },
  place,
  cpu,
}: Pick<Props, 'trace' | 'cpu'> & { place: number }) => {
  const cpuNs = cpu?.bySpan.get(place)?.cpuNs;
  return (
    <>
      <b>{names[spans.name[place]]}</b>
      <br />
      {services[spans.service[place]]} · {duration(spans.durationUs[place])} from {duration(spans.startUs[place])}
      <br />
      self {duration(spans.selfUs[place])}
      {cpuNs !== undefined && `, CPU ${duration(cpuNs / 1000)}`}
      {spans.isCritical[place] === 1 && ', critical path'}
      {spans.isError[place] === 1 && ', failed'}
    </>
  );
};
