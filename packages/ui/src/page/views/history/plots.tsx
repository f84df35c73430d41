// The plots of what a query selects, one for each unit: values of two units share no axis. They have one zoom and one cursor.
import { useMemo, useState } from 'preact/hooks';
import type { ChangeAnswer, SeriesAnswer } from '../../../api/history/answers.js';
import { useKeys } from '../../shell/keys.js';
import type { Zoom } from './commit-refs.js';
import { Legend } from './legend.js';
import { type Hovered, Plot, type PlotProps } from './plot.js';
import { commonParams, groupsOf, paramsText, type UnitGroup } from './series-groups.js';

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

const One = ({
  answer,
  group,
  changes,
  place,
  setPlace,
  ...shared
}: Shared & {
  answer: SeriesAnswer;
  group: UnitGroup;
  changes: readonly ChangeAnswer[];
  place: number | undefined;
  setPlace: (place: number | undefined) => void;
}) => {
  const [series, setSeries] = useState<number>();
  const hover = (hovered: Hovered | undefined): void => {
    setPlace(hovered?.place);
    setSeries(hovered?.series);
  };
  return (
    <section class="unit" aria-label={group.unit || 'no unit'}>
      <Plot {...shared} commits={answer.commits} group={group} changes={changes} hover={hover} />
      <Legend commits={answer.commits} group={group} hovered={place === undefined ? undefined : { place, series }} />
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
          answer={answer}
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
