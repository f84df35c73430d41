// The timelines of the processes of a trace below the waterfall, on the same axis of time: garbage collections, when the event loop was busy for
// long, and when the thread pool was full. Pointed at, a stretch says who had the loop; a click, or Enter, leads to that trace. By key one goes from
// stretch to stretch, the narrow ones too.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { TimelineAnswer, TimelineStretchAnswer } from '../../../../api/trace/answers.js';
import { duration } from '../../../shell/texts.js';
import { prepareCanvas, useTheme } from '../../../shell/theme.js';
import { TimedTraces, useTraceLinks } from '../address.js';
import { type Colors, colorsOf } from './colors.js';
import { Tooltip } from './pan-zoom.js';
import { type Axis, axisOf, type RangeControl } from './time-axis.js';

const ROW = 18;
const BAR = 14;
const FONT = '12px system-ui, sans-serif';
/** Pixels of a bar that a name fits in. */
const NAMED = 40;
/** Pixels around a narrow bar in which it is meant. */
const REACH = 4;

/** The pixels of a stretch. */
const barOf = ({ startUs, durationUs }: TimelineStretchAnswer, axis: Axis): readonly [from: number, to: number] => {
  const x = axis.xOf(startUs);
  return [Math.max(axis.left, x), Math.min(axis.width - 2, x + Math.max(2, durationUs * axis.scale))];
};

const WORDS = { gc: 'garbage collection', busy: 'event loop busy', pool: 'thread pool full' } as const;
const COLORS = { gc: 'gc', busy: 'loop', pool: 'series-4' } as const;
type Kind = keyof typeof WORDS;

/** The rows of a timeline: the first two always, for it says something when nothing is in them. */
const kindsOf = ({ stretches }: TimelineAnswer): readonly Kind[] =>
  stretches.some(({ kind }) => kind === 'pool') ? ['gc', 'busy', 'pool'] : ['gc', 'busy'];

/** Pixels of its rows. */
const timelineHeight = (timeline: TimelineAnswer): number => kindsOf(timeline).length * ROW;

/** What a stretch is called where it has room. */
const nameOf = ({ kind, detail, holders }: TimelineStretchAnswer): string =>
  kind === 'pool' ? detail : (holders[0]?.name ?? '');

const drawTimeline = (
  context: CanvasRenderingContext2D,
  timeline: TimelineAnswer,
  chosen: TimelineStretchAnswer | undefined,
  axis: Axis,
  colors: Colors,
): void => {
  context.fillStyle = colors.background;
  const kinds = kindsOf(timeline);
  const height = timelineHeight(timeline);
  context.fillRect(0, 0, axis.width, height);
  context.font = FONT;
  context.textBaseline = 'middle';
  for (const stretch of timeline.stretches) {
    const [from, to] = barOf(stretch, axis);
    if (to <= axis.left || from >= axis.width) continue;
    const y = kinds.indexOf(stretch.kind) * ROW + 2;
    context.fillStyle = colors[COLORS[stretch.kind]];
    context.fillRect(from, y, to - from, BAR);
    if (stretch === chosen) {
      context.strokeStyle = colors.text;
      context.lineWidth = 2;
      context.strokeRect(from - 1, y, to - from + 2, BAR);
    }
    const name = nameOf(stretch);
    if (name === '' || to - from < NAMED) continue;
    context.save();
    context.beginPath();
    context.rect(from + 3, y, to - from - 6, BAR);
    context.clip();
    context.fillStyle = colors['on-accent'];
    context.fillText(name, from + 3, y + BAR / 2);
    context.restore();
  }
  context.fillStyle = colors.background;
  context.fillRect(0, 0, axis.left - 4, height);
  context.fillStyle = colors.muted;
  for (const [row, kind] of kinds.entries()) context.fillText(WORDS[kind], 4, row * ROW + ROW / 2);
};

/** The stretch at a pixel; of several narrow ones the nearest. */
const stretchAt = (timeline: TimelineAnswer, axis: Axis, x: number, y: number): TimelineStretchAnswer | undefined => {
  const kind = kindsOf(timeline)[Math.floor(y / ROW)];
  let nearest: TimelineStretchAnswer | undefined;
  let distance = REACH;
  for (const stretch of timeline.stretches) {
    if (stretch.kind !== kind) continue;
    const [from, to] = barOf(stretch, axis);
    if (to <= axis.left || from >= axis.width) continue;
    const away = x < from ? from - x : Math.max(0, x - to);
    if (away > distance) continue;
    nearest = stretch;
    distance = away;
  }
  return nearest;
};

interface TimelineProps {
  readonly timeline: TimelineAnswer;
  readonly control: RangeControl;
  readonly width: number;
}

const headOf = ({ kind, detail, startUs, durationUs }: TimelineStretchAnswer): string =>
  `${WORDS[kind]}${detail && `, ${detail}`}: ${duration(durationUs)} from ${duration(startUs)}`;

const Holders = ({ stretch: { kind, holders } }: { stretch: TimelineStretchAnswer }) => {
  if (kind !== 'busy') return null;
  if (holders.length === 0) return <>; who had it is not known</>;
  return (
    <>
      ; it had <TimedTraces of={holders} />
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
