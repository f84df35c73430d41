// The scatter by keys: arrows move a cross, the space bar begins a window, Enter chooses it, or opens the nearest trace; Escape gives up.
import { useState } from 'preact/hooks';
import { type Box, MARGIN, type Scales } from './scales.js';

/** Pixels of a step; with Shift held a finer one. */
const STEP = 20;
const FINE_STEP = 2;

interface Point {
  readonly x: number;
  readonly y: number;
}

const DIRECTIONS: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

interface Told {
  readonly onBox: (box: Box) => void;
  readonly onOpen: (x: number, y: number) => void;
}

/** Where the cross is, and the window that was begun. */
export const useCross = ({ width, height }: Scales, { onBox, onOpen }: Told) => {
  const [at, setAt] = useState<Point>();
  const [corner, setCorner] = useState<Point>();
  const end = (): void => {
    setAt(undefined);
    setCorner(undefined);
  };
  const box =
    at && corner
      ? {
          left: Math.min(at.x, corner.x),
          right: Math.max(at.x, corner.x),
          top: Math.min(at.y, corner.y),
          bottom: Math.max(at.y, corner.y),
        }
      : undefined;
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
