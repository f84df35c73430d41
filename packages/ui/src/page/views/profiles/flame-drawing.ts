// Draws the visible part of a flame graph on a canvas. Colors come from the style sheet's variables at each drawing, so that a change of theme
// needs no more than another one.
import { cssColor } from '../../shell/theme.js';
import { type Extent, type FlameLayout, indexAt } from './flame-layout.js';

/** Height of a row, in CSS pixels. */
export const ROW_HEIGHT = 19;
/** Narrower rows are not drawn. */
const MIN_PIXELS = 0.4;
/** Narrower rows have no text. */
const MIN_TEXT_PIXELS = 24;

/** What is shown of a flame graph, and how. */
export interface FlameScene {
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
export const drawFlame = (
  context: CanvasRenderingContext2D,
  scene: FlameScene,
  width: number,
  height: number,
): void => {
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
