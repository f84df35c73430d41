// The colors of a trace's drawings, read from the style sheet once a theme: reading one for each frame would cost more than the frame; and the
// legend, which says what colors and marks stand for.

import type { TraceAnswer } from '../../../../api/trace/answers.js';
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

/** Services that are named; others have the same colors again. */
const MAX = 12;

interface Props {
  readonly trace: TraceAnswer;
  readonly hasCpu: boolean;
  readonly hasLinks: boolean;
}

export const Legend = ({ trace: { services }, hasCpu, hasLinks }: Props) => (
  <ul class="legend" aria-label="legend">
    {services.slice(0, MAX).map((service, i) => (
      <li key={service}>
        <span class="swatch" style={{ background: `var(--${serviceColor(i)})` }} /> {service}
      </li>
    ))}
    {services.length > MAX && <li>and {services.length - MAX} services more</li>}
    <li>
      <span class="swatch failed" /> failed
    </li>
    <li>
      <span class="swatch critical" /> critical path
    </li>
    {hasCpu && (
      <li>
        <span class="swatch cpu" /> CPU while the span was current, as a share of its time
      </li>
    )}
    {hasLinks && <li>⇄ has links</li>}
  </ul>
);
