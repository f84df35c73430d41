// Zooming and moving by buttons, for those who have neither wheel nor keys.
import { duration } from '../../../shell/units.js';
import type { RangeControl } from './time-axis.js';

interface Props {
  readonly control: RangeControl;
  readonly durationUs: number;
  readonly rows: number;
  readonly showSelected: () => void;
}

export const ZoomBar = ({ control, durationUs, rows, showSelected }: Props) => {
  const { range, zoom, pan, showAll } = control;
  const buttons = [
    ['earlier', '◂', () => pan(-0.25)],
    ['later', '▸', () => pan(0.25)],
    ['zoom in', '+', () => zoom(0.5)],
    ['zoom out', '−', () => zoom(2)],
  ] as const;
  return (
    <p class="actions">
      {buttons.map(([words, sign, act]) => (
        <button key={words} type="button" aria-label={words} title={words} onClick={act}>
          {sign}
        </button>
      ))}
      <button type="button" onClick={showAll}>
        Whole time
      </button>
      <button type="button" onClick={showSelected}>
        To the span
      </button>
      <span class="muted">
        {duration(range.fromUs)} to {duration(range.toUs)} of {duration(durationUs)}, {rows} rows
      </span>
    </p>
  );
};
