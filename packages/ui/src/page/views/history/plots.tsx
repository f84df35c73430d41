// The plots of what a query selects, one for each unit: values of two units share no axis. They have one zoom and one cursor; the legend says which
// line is which series, with its value at the commit under the pointer, or at the last one.

import { useMemo, useState } from 'preact/hooks';
import type { SeriesAnswer } from '../../../api/history/answers.js';
import { useKeys } from '../../shell/keys.js';
import { Breakable, dayOf, figure } from '../../shell/texts.js';
import { type Hovered, Plot, type PlotProps } from './plot.js';
import { commonParams, type DrawnSeries, groupsOf, paramsText, shortHash, type Zoom } from './series.js';

const Swatch = ({ color, dash }: DrawnSeries) => (
  <svg width={24} height={10} aria-hidden="true">
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
const Legend = ({ commits, group, hovered }: Pick<PlotProps, 'commits' | 'group'> & { hovered?: Hovered }) => {
  const { unit, series } = group;
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

/** Plots shown before the rest has to be asked for. */
const SHOWN = 4;

type Shared = Pick<PlotProps, 'selected' | 'chosen' | 'zoom' | 'setZoom' | 'select' | 'choose'>;

/** Half as much, or twice as much, about the middle of what is seen. */
const scaled = (zoom: Zoom | undefined, count: number, factor: number): Zoom | undefined => {
  const [first, last] = zoom ?? [0, count - 1];
  const half = Math.max(1, ((last - first) / 2) * factor);
  const middle = (first + last) / 2;
  const next: Zoom = [Math.max(0, Math.round(middle - half)), Math.min(count - 1, Math.round(middle + half))];
  return next[0] === 0 && next[1] === count - 1 ? undefined : next;
};

interface OneProps extends Omit<PlotProps, 'hover'> {
  readonly place: number | undefined;
  readonly setPlace: (place: number | undefined) => void;
}

const One = ({ place, setPlace, ...plot }: OneProps) => {
  const [series, setSeries] = useState<number>();
  const hover = (hovered: Hovered | undefined): void => {
    setPlace(hovered?.place);
    setSeries(hovered?.series);
  };
  return (
    <section class="unit" aria-label={plot.group.unit || 'no unit'}>
      <Plot {...plot} hover={hover} />
      <Legend {...plot} hovered={place === undefined ? undefined : { place, series }} />
    </section>
  );
};

/** All series of the answer. */
export const Plots = ({ answer, ...shared }: Shared & { answer: SeriesAnswer }) => {
  const { series, commits, changes } = answer;
  const [place, setPlace] = useState<number>();
  const [isAll, setAll] = useState(false);
  const groups = useMemo(() => groupsOf(series), [series]);
  const changesOf = useMemo(
    () => new Map(groups.map(({ unit }) => [unit, changes.filter((change) => change.unit === unit)])),
    [groups, changes],
  );
  const count = commits.numbers.length;
  const zoomBy = (factor: number): void => shared.setZoom(scaled(shared.zoom, count, factor));
  useKeys([
    { key: '+', does: 'zoom in', act: () => zoomBy(0.5) },
    { key: '-', does: 'zoom out', act: () => zoomBy(2) },
    { key: '0', does: 'show all commits', act: () => shared.setZoom(undefined) },
  ]);
  const common = paramsText(commonParams(series));
  return (
    <>
      {common !== '' && series.length > 1 && <p class="muted">All of {common}</p>}
      {groups.slice(0, isAll ? groups.length : SHOWN).map((group) => (
        <One
          key={group.unit}
          {...shared}
          commits={commits}
          group={group}
          changes={changesOf.get(group.unit) ?? []}
          place={place}
          setPlace={setPlace}
        />
      ))}
      {groups.length > SHOWN && !isAll && (
        <button type="button" onClick={() => setAll(true)}>
          Show {groups.length - SHOWN} more units
        </button>
      )}
    </>
  );
};
