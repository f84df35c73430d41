// The form of a span in a frame of a write-ahead file: what its first byte says, and which forms there are. A bit must never get another meaning:
// files of older versions are read.

/** What a span has, as bits of its first byte. `far`: its end is written as a time, for it lasts longer than 2^53 ns. */
export const Has = { parent: 1, newTrace: 2, texts: 4, properties: 8, events: 16, links: 32, far: 64 } as const;

/** The forms of frames: in the first, texts other than names are written wherever they are used, and all ends are times. */
export type FrameForm = 1 | 2;

/** The bits that a span of each form may have. */
export const ALL_BITS: Readonly<Record<FrameForm, number>> = { 1: 63, 2: 127 };
