// A window of the scatter, chosen by a pointer or by keys. A rectangle is drawn by mouse, pen or finger; a drag that the browser takes over, to
// scroll, chooses nothing. Arrows move a cross, the space bar begins a window, Enter chooses it, or opens the nearest trace; Escape gives up.
import { useState } from 'preact/hooks';
import { type Box, MARGIN, type Scales } from './points.js';

/** Pixels below which a drag is a click. */
const CLICK = 4;

interface Point {
  readonly x: number;
  readonly y: number;
}

const pointOf = (event: PointerEvent): Point => {
  const { left, top } = (event.currentTarget as Element).getBoundingClientRect();
  return { x: event.clientX - left, y: event.clientY - top };
};

const boxBetween = (a: Point, b: Point): Box => ({
  left: Math.min(a.x, b.x),
  right: Math.max(a.x, b.x),
  top: Math.min(a.y, b.y),
  bottom: Math.max(a.y, b.y),
});

interface DragEvents {
  readonly onBox: (box: Box) => void;
  readonly onClick: (x: number, y: number) => void;
  readonly onHover: (x: number, y: number) => void;
}

/** Tells of what is dragged, clicked and pointed at, in pixels of the element that gets `handlers`. */
export const useDrag = ({ onBox, onClick, onHover }: DragEvents) => {
  const [drag, setDrag] = useState<{ readonly from: Point; readonly to: Point }>();
  const isDrag = drag !== undefined && Math.hypot(drag.to.x - drag.from.x, drag.to.y - drag.from.y) >= CLICK;
  const handlers = {
    onPointerDown: (event: PointerEvent): void => {
      if (event.button !== 0) return;
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
      setDrag({ from: pointOf(event), to: pointOf(event) });
    },
    onPointerMove: (event: PointerEvent): void => {
      const to = pointOf(event);
      if (drag === undefined) onHover(to.x, to.y);
      else setDrag({ ...drag, to });
    },
    onPointerUp: (event: PointerEvent): void => {
      if (drag === undefined) return;
      const to = pointOf(event);
      setDrag(undefined);
      if (Math.hypot(to.x - drag.from.x, to.y - drag.from.y) < CLICK) onClick(to.x, to.y);
      else onBox(boxBetween(drag.from, to));
    },
    onPointerCancel: (): void => setDrag(undefined),
  };
  return { box: isDrag ? boxBetween(drag.from, drag.to) : undefined, handlers };
};

/** Pixels of a step; with Shift held a finer one. */
const STEP = 20;
const FINE_STEP = 2;

const DIRECTIONS: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

interface CrossEvents {
  readonly onBox: (box: Box) => void;
  readonly onOpen: (x: number, y: number) => void;
}

/** Where the cross is, and the window that was begun. */
export const useCross = ({ width, height }: Scales, { onBox, onOpen }: CrossEvents) => {
  const [at, setAt] = useState<Point>();
  const [corner, setCorner] = useState<Point>();
  const end = (): void => {
    setAt(undefined);
    setCorner(undefined);
  };
  const box = at && corner && boxBetween(at, corner);
  const move = ({ x, y }: Point, step: number): void => {
    const from = at ?? { x: (MARGIN.left + width) / 2, y: height / 2 };
    setAt({
      x: Math.min(width - MARGIN.right, Math.max(MARGIN.left, from.x + x * step)),
      y: Math.min(height - MARGIN.bottom, Math.max(MARGIN.top, from.y + y * step)),
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const direction = DIRECTIONS[event.key];
    if (direction !== undefined) move(direction, event.shiftKey ? FINE_STEP : STEP);
    else if (at === undefined) return;
    else if (event.key === 'Escape') end();
    else if (event.key === ' ') setCorner(corner === undefined ? at : undefined);
    else if (event.key !== 'Enter') return;
    else if (box === undefined) onOpen(at.x, at.y);
    else {
      onBox(box);
      end();
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return { at, box, handlers: { onKeyDown, onBlur: end } };
};
