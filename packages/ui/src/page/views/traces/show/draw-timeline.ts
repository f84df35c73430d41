// Draws the timeline of one process below the waterfall, on the same axis of time: garbage collections, when the event loop was busy for long, and when
// the thread pool was full.
import type { TimelineAnswer, TimelineStretchAnswer } from '../../../../api/trace/answers.js';
import type { Colors } from './colors.js';
import type { Axis } from './time-axis.js';

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
export const timelineHeight = (timeline: TimelineAnswer): number => kindsOf(timeline).length * ROW;

/** What a stretch is called where it has room. */
const nameOf = ({ kind, detail, holders }: TimelineStretchAnswer): string =>
  kind === 'pool' ? detail : (holders[0]?.name ?? '');

export const drawTimeline = (
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
export const stretchAt = (
  timeline: TimelineAnswer,
  axis: Axis,
  x: number,
  y: number,
): TimelineStretchAnswer | undefined => {
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
