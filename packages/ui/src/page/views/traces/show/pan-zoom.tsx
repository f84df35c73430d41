// The waterfall by pointer and by buttons, for those who have neither wheel nor keys: a drag over the bars moves in time, two fingers zoom, the wheel
// does both with a key held; and what is pointed at, in words beside the pointer, for the eye alone: keys and screen readers have the same elsewhere.
// A drag must never end as a click, and one finger that moves up or down scrolls as everywhere.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { duration } from '../../../shell/texts.js';
import { type Axis, axisOf, type RangeControl } from './time-axis.js';

/** Pixels that it may be wide. */
const WIDTH = 260;

interface TooltipProps {
  /** The pointer, in pixels of the element around. */
  readonly x: number;
  readonly y: number;
  /** Of that element. */
  readonly width: number;
  readonly children: ComponentChildren;
}

export const Tooltip = ({ x, y, width, children }: TooltipProps) => (
  <div
    class="tooltip"
    aria-hidden="true"
    style={{ left: `${Math.max(0, Math.min(x + 12, width - WIDTH))}px`, top: `${y + 14}px`, maxWidth: `${WIDTH}px` }}
  >
    {children}
  </div>
);

interface ZoomBarProps {
  readonly control: RangeControl;
  readonly durationUs: number;
  readonly rows: number;
  readonly showSelected: () => void;
}

export const ZoomBar = ({ control, durationUs, rows, showSelected }: ZoomBarProps) => {
  const { range, zoom, pan, showAll } = control;
  const buttons = [
    ['earlier', '◂', () => pan(-0.25)],
    ['later', '▸', () => pan(0.25)],
    ['zoom in', '+', () => zoom(0.5)],
    ['zoom out', '−', () => zoom(2)],
  ] as const;
  return (
    <p class="flow">
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

/** Pixels below which a drag is a click. */
const CLICK = 4;

interface Gesture {
  readonly pointers: Map<number, number>;
  moved: number;
}

/** Handlers for an element whose pixels are those of the axis, and what the last press was. */
export const usePanZoom = (element: { readonly current: HTMLElement | null }, control: RangeControl, width: number) => {
  const gesture = useRef<Gesture>({ pointers: new Map(), moved: 0 });
  const latest = useRef({ control, width });
  latest.current = { control, width };
  const xIn = (event: MouseEvent): number =>
    event.clientX - (element.current as HTMLElement).getBoundingClientRect().left;
  const axis = (): Axis => axisOf(latest.current.control.range, latest.current.width);

  // Not passive: with a key held the page must not scroll or zoom.
  useEffect(() => {
    const onWheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      const { control: now } = latest.current;
      if (event.shiftKey) now.pan(Math.sign(event.deltaY + event.deltaX) / 8);
      else now.zoom(event.deltaY > 0 ? 1.25 : 0.8, axis().usAt(xIn(event)));
    };
    const target = element.current as HTMLElement;
    target.addEventListener('wheel', onWheel, { passive: false });
    return () => target.removeEventListener('wheel', onWheel);
  }, []);

  const pinch = (before: readonly number[], after: readonly number[]): void => {
    const [wide, now] = [before, after].map(([a, b]) => Math.max(1, Math.abs(a - b)));
    control.zoom(wide / now, axis().usAt((after[0] + after[1]) / 2));
  };
  const release = (event: PointerEvent): void => {
    gesture.current.pointers.delete(event.pointerId);
  };
  return {
    /** Whether the press that ends now moved something. */
    wasDrag: (): boolean => gesture.current.moved >= CLICK,
    isDragging: (): boolean => gesture.current.pointers.size > 0 && gesture.current.moved >= CLICK,
    handlers: {
      onPointerDown: (event: PointerEvent): void => {
        const { pointers } = gesture.current;
        if (event.button !== 0 || xIn(event) < axis().left) {
          gesture.current.moved = 0;
          return;
        }
        if (pointers.size === 0) gesture.current.moved = 0;
        pointers.set(event.pointerId, xIn(event));
      },
      onPointerMove: (event: PointerEvent): void => {
        const { pointers } = gesture.current;
        const from = pointers.get(event.pointerId);
        if (from === undefined) return;
        const to = xIn(event);
        const before = [...pointers.values()];
        pointers.set(event.pointerId, to);
        gesture.current.moved += Math.abs(to - from);
        if (gesture.current.moved < CLICK) return;
        // Only now: a captured pointer clicks on whoever has it.
        (event.currentTarget as Element).setPointerCapture(event.pointerId);
        if (pointers.size >= 2) pinch(before, [...pointers.values()]);
        else control.pan((from - to) / axis().length);
      },
      onPointerUp: release,
      onPointerCancel: release,
    },
  };
};
