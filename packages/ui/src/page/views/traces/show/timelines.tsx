// The timelines of the processes of a trace: pointed at, a stretch says who had the loop; a click, or Enter, leads to that trace. By key one goes from
// stretch to stretch, the narrow ones too.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { TimelineAnswer, TimelineStretchAnswer } from '../../../../api/trace/answers.js';
import { useTheme } from '../../../shell/theme.js';
import { duration } from '../../../shell/units.js';
import { useTraceLinks } from '../address.js';
import { prepareCanvas } from '../canvas.js';
import { colorsOf } from './colors.js';
import { drawTimeline, stretchAt, timelineHeight } from './draw-timeline.js';
import { axisOf, type RangeControl } from './time-axis.js';
import { Tooltip } from './tooltip.js';

interface TimelineProps {
  readonly timeline: TimelineAnswer;
  readonly control: RangeControl;
  readonly width: number;
}

const WORDS = { gc: 'garbage collection', busy: 'event loop busy', pool: 'thread pool full' } as const;

const headOf = ({ kind, detail, startUs, durationUs }: TimelineStretchAnswer): string =>
  `${WORDS[kind]}${detail && `, ${detail}`}: ${duration(durationUs)} from ${duration(startUs)}`;

const Holders = ({ stretch: { kind, holders } }: { stretch: TimelineStretchAnswer }) => {
  const links = useTraceLinks();
  if (kind !== 'busy') return null;
  if (holders.length === 0) return <>; who had it is not known</>;
  return (
    <>
      {holders.map(({ name, traceId, us }, i) => (
        <span key={traceId + name}>
          {i === 0 ? '; it had ' : ', '}
          {traceId === '' ? <code>{name}</code> : <a href={links.hrefOf(traceId)}>{name}</a>} {duration(us)}
        </span>
      ))}
    </>
  );
};

const Timeline = ({ timeline, control, width }: TimelineProps) => {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [theme] = useTheme();
  const links = useTraceLinks();
  const [chosen, setChosen] = useState<TimelineStretchAnswer>();
  const [pointed, setPointed] = useState<{
    readonly stretch: TimelineStretchAnswer;
    readonly x: number;
    readonly y: number;
  }>();
  const { range } = control;
  const { stretches, process, leftOut } = timeline;
  const axis = axisOf(range, width);

  useEffect(() => {
    if (width === 0) return;
    const frame = requestAnimationFrame(() => {
      // The view may have gone since the frame was asked for.
      if (canvas.current === null) return;
      drawTimeline(
        prepareCanvas(canvas.current, width, timelineHeight(timeline)),
        timeline,
        chosen ?? pointed?.stretch,
        axis,
        colorsOf(theme),
      );
    });
    return () => cancelAnimationFrame(frame);
  }, [timeline, range, width, theme, chosen, pointed]);

  const choose = (stretch: TimelineStretchAnswer | undefined): void => {
    setChosen(stretch);
    if (stretch === undefined) return;
    const isInSight = stretch.startUs + stretch.durationUs >= range.fromUs && stretch.startUs <= range.toUs;
    if (!isInSight) control.show(stretch.startUs - (range.toUs - range.fromUs) / 2, range.toUs - range.fromUs);
  };
  const open = ({ holders }: TimelineStretchAnswer): void => {
    const holder = holders.find(({ traceId }) => traceId !== '');
    if (holder !== undefined) links.goTo(holder.traceId);
  };
  const under = (event: MouseEvent) => {
    const { left, top } = (canvas.current as HTMLCanvasElement).getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    const stretch = stretchAt(timeline, axis, x, y);
    return stretch && { stretch, x, y };
  };
  const click = (event: MouseEvent): void => {
    const at = under(event);
    choose(at?.stretch);
    if (at !== undefined) open(at.stretch);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = chosen === undefined ? -1 : stretches.indexOf(chosen);
    if (event.key === 'ArrowRight') choose(stretches[Math.min(stretches.length - 1, at + 1)]);
    else if (event.key === 'ArrowLeft') choose(stretches[Math.max(0, at - 1)]);
    else if (event.key === 'Enter' && chosen !== undefined) open(chosen);
    else return;
    event.preventDefault();
  };
  const shown = chosen ?? pointed?.stretch;
  return (
    <div class="timeline">
      <h2>
        {process} <small>{leftOut > 0 && `${leftOut} of the shortest stretches are not drawn`}</small>
      </h2>
      <div class="plot">
        <div
          role="application"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: its keys go through the stretches.
          tabIndex={0}
          data-own-keys
          aria-label={`timeline of ${process}: ${stretches.length} garbage collections, busy stretches and full pools; left and right go through them, Enter leads to who had the loop`}
          onClick={click}
          onPointerMove={(event) => setPointed(under(event))}
          onPointerLeave={() => setPointed(undefined)}
          onKeyDown={onKeyDown}
        >
          <canvas ref={canvas} />
        </div>
        {pointed !== undefined && (
          <Tooltip x={pointed.x} y={pointed.y} width={width}>
            {headOf(pointed.stretch)}
            <Holders stretch={pointed.stretch} />
          </Tooltip>
        )}
      </div>
      <p role="status" class="shown">
        {shown !== undefined && (
          <>
            {headOf(shown)}
            <Holders stretch={shown} />
          </>
        )}
      </p>
    </div>
  );
};

export const Timelines = ({
  timelines,
  control,
  width,
}: { timelines: readonly TimelineAnswer[] } & Omit<TimelineProps, 'timeline'>) => (
  <>
    {timelines.map((timeline) => (
      <Timeline key={timeline.process} timeline={timeline} control={control} width={width} />
    ))}
  </>
);
