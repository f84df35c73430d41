// The flame graph on its canvas: pointing, zooming, keys. What is selected and zoomed belongs to who shows it; this component tells of changes.
import { useEffect, useRef, useState } from 'preact/hooks';
import { drawFlame, ROW_HEIGHT } from './flame-drawing.js';
import { extentOf, type FlameLayout, rowAt, type Step, stepFrom } from './flame-layout.js';

const MAX_ROWS = 34;
/** Callers that stay in sight above a zoomed node. */
const ROWS_ABOVE = 8;

const STEPS: Readonly<Record<string, Step>> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
};

interface FlameCanvasProps {
  readonly layout: FlameLayout;
  readonly zoom: number;
  readonly selected: number;
  readonly isFound: Uint8Array | undefined;
  /** Of the whole graph, for who cannot see it. */
  readonly label: string;
  readonly onSelect: (row: number) => void;
  readonly onZoom: (row: number) => void;
}

export const FlameCanvas = ({ layout, zoom, selected, isFound, label, onSelect, onZoom }: FlameCanvasProps) => {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [scrolled, setScrolled] = useState(0);
  const [, redraw] = useState(0);
  const rows = Math.min(MAX_ROWS, layout.levels.length);
  const height = rows * ROW_HEIGHT;
  const top = Math.max(0, Math.min(scrolled, layout.levels.length - rows));
  const extent = extentOf(layout, zoom);

  useEffect(() => setScrolled(Math.max(0, layout.depth[zoom] - ROWS_ABOVE)), [layout, zoom]);
  useEffect(() => {
    const depth = layout.depth[selected];
    setScrolled((first) => (depth < first ? depth : depth >= first + rows ? depth - rows + 1 : first));
  }, [layout, selected]);

  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context) return;
    const { clientWidth } = element;
    const ratio = devicePixelRatio;
    element.width = Math.round(clientWidth * ratio);
    element.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawFlame(context, { layout, extent, top, selected, isFound }, clientWidth, height);
  });

  useEffect(() => {
    const again = (): void => redraw((count) => count + 1);
    const sizes = new ResizeObserver(again);
    if (canvas.current) sizes.observe(canvas.current);
    const themes = new MutationObserver(again);
    themes.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      sizes.disconnect();
      themes.disconnect();
    };
  }, []);

  // Not passive, unlike Preact's: the page must not scroll as long as the graph can.
  useEffect(() => {
    const element = canvas.current;
    const onWheel = (event: WheelEvent): void => {
      const next = Math.max(0, Math.min(layout.levels.length - rows, top + Math.sign(event.deltaY) * 3));
      if (next === top) return;
      event.preventDefault();
      setScrolled(next);
    };
    element?.addEventListener('wheel', onWheel, { passive: false });
    return () => element?.removeEventListener('wheel', onWheel);
  });

  const pointed = (event: MouseEvent): number | undefined => {
    const box = (event.currentTarget as HTMLCanvasElement).getBoundingClientRect();
    const at = extent.from + ((event.clientX - box.left) / box.width) * (extent.to - extent.from);
    return rowAt(layout, top + Math.floor((event.clientY - box.top) / ROW_HEIGHT), at);
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (step !== undefined) onSelect(stepFrom(layout, selected, step));
    else if (event.key === 'Enter') onZoom(selected);
    else if (event.key === 'Backspace') onZoom(Math.max(0, layout.columns.parent[zoom]));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <canvas
      ref={canvas}
      class="flame"
      style={{ height: `${height}px` }}
      tabIndex={0}
      aria-label={label}
      aria-describedby="flame-details"
      onClick={(event) => {
        const row = pointed(event);
        if (row !== undefined) onSelect(row);
      }}
      onDblClick={(event) => {
        const row = pointed(event);
        if (row !== undefined) onZoom(row);
      }}
      onMouseMove={(event) => {
        const row = pointed(event);
        const { names, frame } = layout.columns;
        event.currentTarget.title = row === undefined ? '' : names[frame[row]];
      }}
      onKeyDown={onKeyDown}
    />
  );
};
