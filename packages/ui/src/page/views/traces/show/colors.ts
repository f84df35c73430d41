// The colors of a trace's drawings, read from the style sheet once a theme: reading one for each frame would cost more than the frame.
import { cssColor, type Theme } from '../../../shell/theme.js';

/** By the name of the variable, without its dashes. */
export interface Colors {
  readonly [name: string]: string;
}

const NAMES = ['text', 'muted', 'surface', 'border', 'bad', 'warn', 'accent', 'on-accent', 'background', 'gc', 'loop'];
const SERIES = 6;

const read = new Map<Theme, Colors>();

/** Of a theme that is shown now. */
export const colorsOf = (theme: Theme): Colors => {
  const known = read.get(theme);
  // Another part may draw before the theme is in the document.
  if (known !== undefined || document.documentElement.dataset.theme !== theme) return known ?? readNow();
  const colors = readNow();
  read.set(theme, colors);
  return colors;
};

const readNow = (): Colors =>
  Object.fromEntries([
    ...NAMES.map((name) => [name, cssColor(`--${name}`)]),
    ...Array.from({ length: SERIES }, (_, i) => [`series-${i + 1}`, cssColor(`--series-${i + 1}`)]),
  ]);

/** The name of the color of a service, by its number among those of the trace. */
export const serviceColor = (service: number): string => `series-${1 + (service % SERIES)}`;
