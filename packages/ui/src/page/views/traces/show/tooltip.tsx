// What is pointed at, in words beside the pointer. For the eye alone: keys and screen readers have the same elsewhere.
import type { ComponentChildren } from 'preact';

/** Pixels that it may be wide. */
const WIDTH = 260;

interface Props {
  /** The pointer, in pixels of the element around. */
  readonly x: number;
  readonly y: number;
  /** Of that element. */
  readonly width: number;
  readonly children: ComponentChildren;
}

export const Tooltip = ({ x, y, width, children }: Props) => (
  <div
    class="tooltip"
    aria-hidden="true"
    style={{ left: `${Math.max(0, Math.min(x + 12, width - WIDTH))}px`, top: `${y + 14}px`, maxWidth: `${WIDTH}px` }}
  >
    {children}
  </div>
);
