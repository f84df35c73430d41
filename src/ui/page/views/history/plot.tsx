// The plot of series by commit, with a line at each change. The list of changes below it says the same in words; the plot must not be the only way
// to reach anything.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { SeriesAnswer } from '../../../api/history/answers.js';
import { cssColor, useTheme } from '../../shell/theme.js';

const COLORS = 6;
const HEIGHT = 320;
const MARK_REACH_PX = 12;

const colorOf = (kind: string): string =>
  cssColor(kind === 'regression' ? '--bad' : kind === 'improvement' ? '--good' : '--warn');

const drawChanges = (plot: uPlot, { changes, commits }: SeriesAnswer, selected: number | undefined): void => {
  const { ctx, bbox } = plot;
  const places = new Map(commits.numbers.map((number, i) => [number, i]));
  ctx.save();
  for (const { commit, kind } of changes) {
    const x = plot.valToPos(places.get(commit) ?? 0, 'x', true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.strokeStyle = colorOf(kind);
    ctx.lineWidth = (commit === selected ? 3 : 1) * devicePixelRatio;
    ctx.setLineDash(commit === selected ? [] : [4, 4]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
};

interface PlotProps {
  readonly answer: SeriesAnswer;
  /** Number of the commit whose change is shown. */
  readonly selected: number | undefined;
  readonly select: (commit: number) => void;
}

/** Series over their commits; a click near a change selects it. */
export const Plot = ({ answer, selected, select }: PlotProps) => {
  const place = useRef<HTMLDivElement>(null);
  const [theme] = useTheme();
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const { commits, series, changes } = answer;
    const axis = { stroke: cssColor('--muted'), grid: { stroke: cssColor('--border'), width: 1 } };
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { drag: { x: true, y: false } },
        scales: { x: { time: false } },
        axes: [
          {
            ...axis,
            values: (_, places) => places.map((i) => (commits.hashes[i] ?? '').slice(0, 7)),
            space: 80,
            incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
          },
          {
            ...axis,
            size: 70,
            values: (_, ticks) =>
              ticks.map((tick) => Number(tick.toPrecision(6)).toLocaleString('en', { notation: 'compact' })),
          },
        ],
        series: [
          {},
          ...series.map(({ key }, i) => ({
            label: key,
            stroke: cssColor(`--series-${(i % COLORS) + 1}`),
            width: 1,
            spanGaps: true,
            points: { show: false },
          })),
        ],
        hooks: { draw: [(drawn) => drawChanges(drawn, answer, selected)] },
      },
      [commits.numbers.map((_, i) => i), ...series.map(({ values }) => values as (number | null)[])],
      element,
    );
    const places = new Map(commits.numbers.map((number, i) => [number, i]));
    const onClick = (event: MouseEvent): void => {
      const x = event.clientX - plot.over.getBoundingClientRect().left;
      const distance = ({ commit }: { commit: number }) => Math.abs(plot.valToPos(places.get(commit) ?? 0, 'x') - x);
      const nearest = [...changes].sort((a, b) => distance(a) - distance(b))[0];
      if (nearest !== undefined && distance(nearest) <= MARK_REACH_PX) select(nearest.commit);
    };
    plot.over.addEventListener('click', onClick);
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.destroy();
    };
  }, [answer, theme, selected]);
  const label = `${answer.series.length} series at ${answer.commits.numbers.length} commits; the changes are listed below`;
  return <div class="plot" ref={place} role="img" aria-label={label} />;
};
