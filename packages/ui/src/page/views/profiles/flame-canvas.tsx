// The flame graph on its canvas: the visible part drawn, pointing, zooming, keys. Colors come from the style sheet's variables at each drawing, so
// that a change of theme needs no more than another one. What is selected and zoomed belongs to who shows it; this component tells of changes.

import { useEffect, useRef, useState } from 'preact/hooks';
import { cssColor, useTheme, useWidth } from '../../shell/theme.js';
import { type Extent, extentOf, type FlameLayout, indexAt, rowAt, type Step, stepFrom } from './flame-layout.js';

/** Height of a row, in CSS pixels. */
const ROW_HEIGHT = 19;
/** Narrower rows are not drawn. */
const MIN_PIXELS = 0.4;
/** Narrower rows have no text. */
const MIN_TEXT_PIXELS = 24;

/** What is shown of a flame graph, and how. */
interface FlameScene {
  readonly layout: FlameLayout;
  readonly extent: Extent;
  /** Depth of the first row on the canvas. */
  readonly top: number;
  readonly selected: number;
  /** By frame; undefined when nothing is searched. */
  readonly isFound: Uint8Array | undefined;
}

interface Palette {
  readonly text: string;
  readonly background: string;
  readonly accent: string;
  readonly found: string;
  readonly more: string;
  readonly less: string;
  readonly kinds: readonly string[];
}

const paletteOf = (): Palette => ({
  text: cssColor('--text'),
  background: cssColor('--background'),
  accent: cssColor('--accent'),
  found: cssColor('--series-5'),
  more: cssColor('--bad'),
  less: cssColor('--good'),
  kinds: ['--muted', '--series-6', '--series-4', '--series-2'].map(cssColor),
});

/** Where code comes from: V8 and native code, Node, a package, the program. */
const kindOf = (place: string): number => {
  if (place === '') return 0;
  if (place.startsWith('node:')) return 1;
  return place.includes('/node_modules/') ? 2 : 3;
};

/** Neighbours of one kind differ a little. */
const shadeOf = (frame: number): number => 0.3 + ((frame * 7) % 5) * 0.04;

const fillOf = ({ layout: { columns } }: FlameScene, palette: Palette, row: number): readonly [string, number] => {
  const { before, total, frame, places } = columns;
  if (before === undefined) return [palette.kinds[kindOf(places[frame[row]])], shadeOf(frame[row])];
  const change = total[row] / (total[0] || 1) - before[row] / (before[0] || 1);
  const strength = Math.min(1, Math.abs(change) * 5);
  if (strength < 0.01) return [palette.kinds[0], 0.15];
  return [change > 0 ? palette.more : palette.less, 0.15 + 0.45 * strength];
};

/** Draw a scene. `width` and `height` are those of the canvas in CSS pixels. */
const drawFlame = (context: CanvasRenderingContext2D, scene: FlameScene, width: number, height: number): void => {
  const { layout, extent, top, selected, isFound } = scene;
  const { columns, left, levels } = layout;
  const palette = paletteOf();
  const scale = width / (extent.to - extent.from);
  context.globalAlpha = 1;
  context.fillStyle = palette.background;
  context.fillRect(0, 0, width, height);
  context.font = '12px system-ui, sans-serif';
  context.textBaseline = 'middle';
  const letter = context.measureText('n').width;
  const last = Math.min(levels.length, top + Math.ceil(height / ROW_HEIGHT));
  for (let depth = top; depth < last; depth++) {
    const level = levels[depth];
    const y = (depth - top) * ROW_HEIGHT;
    for (let i = indexAt(layout, depth, extent.from); i < level.length && left[level[i]] < extent.to; i++) {
      const row = level[i];
      const from = Math.max(0, (left[row] - extent.from) * scale);
      const to = Math.min(width, (left[row] + layout.width[row] - extent.from) * scale);
      if (to - from < MIN_PIXELS) continue;
      const frame = columns.frame[row];
      const [color, alpha] = fillOf(scene, palette, row);
      const isHit = isFound?.[frame] === 1;
      context.globalAlpha = isFound === undefined ? alpha : isHit ? 0.6 : 0.1;
      context.fillStyle = isHit ? palette.found : color;
      context.fillRect(from, y, Math.max(MIN_PIXELS, to - from - 1), ROW_HEIGHT - 1);
      context.globalAlpha = 1;
      if (row === selected) {
        context.strokeStyle = palette.accent;
        context.lineWidth = 2;
        context.strokeRect(from + 1, y + 1, Math.max(1, to - from - 3), ROW_HEIGHT - 3);
      }
      if (to - from < MIN_TEXT_PIXELS) continue;
      const room = Math.floor((to - from - 8) / letter);
      const name = columns.names[frame];
      context.fillStyle = palette.text;
      // The last argument presses wide letters together: text never leaves its row.
      context.fillText(name.length > room ? `${name.slice(0, room - 1)}…` : name, from + 4, y + 9, to - from - 7);
    }
  }
};

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
  // Either is a reason to draw anew.
  useTheme();
  useWidth(canvas);
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
