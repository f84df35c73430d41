// The plot of series of one unit by commit, with a line at each change and at each commit that was chosen. What is below it says the same in words; the
// plot must not be the only way to reach anything. It is made anew for other series only: a choice or a zoom changes the one that is there.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { ChangeAnswer, CommitColumns } from '../../../api/history/answers.js';
import { compact } from '../../shell/texts.js';
import { cssColor, useTheme } from '../../shell/theme.js';
import { shortHash, type UnitGroup, type Zoom } from './series.js';

const HEIGHT = 300;
const MARK_REACH_PX = 12;
/** Pixels a value needs for a point of its own. */
const POINT_PX = 14;
const POINT_SIZE = 6;
/** All plots of the page have one cursor. */
const CURSOR = 'history';

/** What is under the pointer. */
export interface Hovered {
  readonly place: number;
  /** The series nearest to it, of this plot. */
  readonly series: number | undefined;
}

export interface PlotProps {
  readonly commits: CommitColumns;
  readonly group: UnitGroup;
  readonly changes: readonly ChangeAnswer[];
  /** Number of the commit whose change is shown. */
  readonly selected: number | undefined;
  /** Places of commits that were chosen. */
  readonly chosen: readonly number[];
  readonly zoom: Zoom | undefined;
  readonly setZoom: (zoom: Zoom | undefined) => void;
  readonly hover: (hovered: Hovered | undefined) => void;
  readonly select: (commit: number) => void;
  readonly choose: (place: number) => void;
}

const colorOf = (kind: string): string =>
  cssColor(kind === 'regression' ? '--bad' : kind === 'improvement' ? '--good' : '--warn');

const drawLine = (
  { ctx, bbox, valToPos }: uPlot,
  place: number,
  color: string,
  width: number,
  dash: number[],
): void => {
  const x = valToPos(place, 'x', true);
  if (x < bbox.left || x > bbox.left + bbox.width) return;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.lineWidth = width * devicePixelRatio;
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
};

/** Where values stand alone, as a single one does, a line shows nothing. */
const hasPoints = (plot: uPlot, series: number, first: number, last: number): boolean => {
  const values = plot.data[series];
  const max = plot.bbox.width / devicePixelRatio / POINT_PX;
  let count = 0;
  for (let place = first; place <= last && count <= max; place++) if (values[place] !== null) count++;
  return count <= max;
};

const placesByNumber = ({ numbers }: CommitColumns): ReadonlyMap<number, number> =>
  new Map(numbers.map((number, place) => [number, place]));

/** The commits that a drag marked, the first and the last. */
const draggedOver = (plot: uPlot, count: number): Zoom => {
  const { left, width } = plot.select;
  const [min, max] = [left, left + width].map((x) => plot.posToVal(x, 'x'));
  return [Math.max(0, Math.round(min)), Math.min(count - 1, Math.round(max))];
};

const optionsOf = (
  { commits, group }: PlotProps,
  width: number,
  hooks: uPlot.Hooks.Arrays,
  showAll: () => null,
): uPlot.Options => {
  const axis = { stroke: cssColor('--muted'), grid: { stroke: cssColor('--border'), width: 1 } };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: {
      // A drag tells the address, which is what moves the plot: one that moved by itself and told it too would be answered by its own echo.
      drag: { x: true, y: false, setScale: false },
      bind: { dblclick: () => showAll },
      focus: { prox: 24 },
      sync: { key: CURSOR, setSeries: false },
    },
    focus: { alpha: 0.35 },
    scales: { x: { time: false } },
    axes: [
      {
        ...axis,
        values: (_, places) => places.map((place) => shortHash(commits.hashes[place] ?? '').slice(0, 7)),
        space: 80,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
      },
      { ...axis, size: 80, label: group.unit, labelSize: 18, values: (_, ticks) => ticks.map(compact) },
    ],
    series: [
      {},
      ...group.series.map(({ name, color, dash }) => ({
        label: name,
        stroke: cssColor(color),
        dash: [...dash],
        width: 1,
        spanGaps: true,
        points: { show: hasPoints, size: POINT_SIZE, fill: cssColor(color) },
      })),
    ],
    hooks,
  };
};

/** Series of one unit over their commits. A click near a change selects it, any other chooses a commit; a drag zooms, a double click shows all. */
export const Plot = (props: PlotProps) => {
  const { commits, group, changes, selected, chosen, zoom } = props;
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | undefined>(undefined);
  /** What the plot asks of when something happens, which may be long after it was made. */
  const now = useRef(props);
  now.current = props;
  const [theme] = useTheme();
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const places = placesByNumber(commits);
    const count = commits.numbers.length;
    const drawMarks = (plot: uPlot): void => {
      for (const { commit, kind } of now.current.changes) {
        const isSelected = commit === now.current.selected;
        drawLine(plot, places.get(commit) ?? -1, colorOf(kind), isSelected ? 3 : 1, isSelected ? [] : [4, 4]);
      }
      for (const one of now.current.chosen) drawLine(plot, one, cssColor('--accent'), 2, []);
    };
    let nearest: number | undefined;
    const reportHovered = ({ cursor }: uPlot): void =>
      now.current.hover(cursor.idx == null ? undefined : { place: cursor.idx, series: nearest });
    const focus = (plot: uPlot, series: number | null): void => {
      nearest = series === null ? undefined : series - 1;
      reportHovered(plot);
    };
    const zoomToDrag = (plot: uPlot): void => {
      const [first, last] = draggedOver(plot, count);
      plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      if (first < last) now.current.setZoom(first === 0 && last === count - 1 ? undefined : [first, last]);
    };
    const showAll = (): null => {
      now.current.setZoom(undefined);
      return null;
    };
    const hooks = { draw: [drawMarks], setCursor: [reportHovered], setSeries: [focus], setSelect: [zoomToDrag] };
    const plot = new uPlot(
      optionsOf(now.current, element.clientWidth, hooks, showAll),
      [commits.numbers.map((_, i) => i), ...group.series.map(({ values }) => values as (number | null)[])],
      element,
    );
    drawn.current = plot;
    if (now.current.zoom !== undefined) plot.setScale('x', { min: now.current.zoom[0], max: now.current.zoom[1] });
    const onClick = (event: MouseEvent): void => {
      const x = event.clientX - plot.over.getBoundingClientRect().left;
      const distance = ({ commit }: ChangeAnswer) => Math.abs(plot.valToPos(places.get(commit) ?? -1, 'x') - x);
      const change = [...now.current.changes].sort((a, b) => distance(a) - distance(b))[0];
      if (change !== undefined && distance(change) <= MARK_REACH_PX) now.current.select(change.commit);
      else now.current.choose(Math.min(count - 1, Math.max(0, Math.round(plot.posToVal(x, 'x')))));
    };
    plot.over.addEventListener('click', onClick);
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.destroy();
      drawn.current = undefined;
    };
  }, [commits, group, theme]);
  useEffect(() => drawn.current?.redraw(false), [changes, selected, chosen.join()]);
  useEffect(() => {
    const plot = drawn.current;
    const [min, max] = zoom ?? [0, commits.numbers.length - 1];
    if (plot === undefined || (plot.scales.x.min === min && plot.scales.x.max === max)) return;
    plot.setScale('x', { min, max });
  }, [String(zoom)]);
  const label = `${group.series.length} series in ${group.unit || 'no unit'} at ${commits.numbers.length} commits; values and changes are below`;
  return <div class="plot" ref={place} role="img" aria-label={label} />;
};
