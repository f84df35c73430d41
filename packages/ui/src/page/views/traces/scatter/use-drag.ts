// A rectangle that a pointer draws, by mouse, pen or finger. A drag that the browser takes over, to scroll, chooses nothing.
import { useState } from 'preact/hooks';
import type { Box } from './scales.js';

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

interface Told {
  readonly onBox: (box: Box) => void;
  readonly onClick: (x: number, y: number) => void;
  readonly onHover: (x: number, y: number) => void;
}

/** Tells of what is dragged, clicked and pointed at, in pixels of the element that gets `handlers`. */
export const useDrag = ({ onBox, onClick, onHover }: Told) => {
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
