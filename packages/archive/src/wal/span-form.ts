// The form of a span in a frame of a write-ahead file: what its first byte says.

/** What a span has, as bits of its first byte. `far`: its end is written as a time, for it lasts longer than 2^53 ns. */
export const Has = { parent: 1, newTrace: 2, texts: 4, properties: 8, events: 16, links: 32, far: 64 } as const;

export const ALL_BITS = 127;
