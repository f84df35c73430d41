// Which line is which series, with its value at the commit under the pointer, or at the last one.
import type { CommitColumns } from '../../../api/history/answers.js';
import { Breakable } from '../../shell/breakable.js';
import { dayOf, figure } from '../../shell/units.js';
import { shortHash } from './commit-refs.js';
import type { Hovered } from './plot.js';
import type { DrawnSeries, UnitGroup } from './series-groups.js';

const Swatch = ({ color, dash }: DrawnSeries) => (
  <svg class="swatch" width={24} height={10} aria-hidden="true">
    <line x1={0} y1={5} x2={24} y2={5} stroke={`var(${color})`} stroke-width={2} stroke-dasharray={dash.join(' ')} />
  </svg>
);

/** The value of a series at a place, or the last one before. */
const valueAt = (
  values: readonly (number | null)[],
  place: number,
): { readonly value: number; readonly at: number } | undefined => {
  for (let at = place; at >= 0; at--) {
    const value = values[at];
    if (value != null) return { value, at };
  }
  return undefined;
};

/** The series of one plot. */
export const Legend = ({
  commits,
  group: { unit, series },
  hovered,
}: {
  commits: CommitColumns;
  group: UnitGroup;
  hovered: Hovered | undefined;
}) => {
  const place = hovered?.place ?? commits.hashes.length - 1;
  const focused = hovered?.series === undefined ? undefined : series[hovered.series];
  return (
    <>
      <p class="at-commit">
        {hovered === undefined ? 'newest commit ' : ''}
        <code>{shortHash(commits.hashes[place] ?? '')}</code> {dayOf(commits.times[place] ?? null)}
        {focused !== undefined &&
          ` ${focused.name}: ${figure(valueAt(focused.values, place)?.value ?? Number.NaN)} ${unit}`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <ul class="legend" tabIndex={0} aria-label={`series in ${unit || 'no unit'}`}>
        {series.map((one, i) => {
          const found = valueAt(one.values, place);
          return (
            <li key={one.key} class={hovered?.series === i ? 'is-focused' : undefined}>
              <Swatch {...one} />
              <span class="name">
                <Breakable text={one.name} />
              </span>
              <span class="number">
                {found === undefined ? '' : `${figure(found.value)} ${unit}`}
                {found !== undefined && found.at < place && ' (before)'}
              </span>
            </li>
          );
        })}
      </ul>
    </>
  );
};
