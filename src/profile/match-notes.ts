// Which note of the signal handler belongs to which sample of V8: the one whose interval holds the sample's time. Both are in
// order of time, so one walk over both.
import type { Note } from './note-store.js';

const NS_PER_US = 1000;

/** The note of each sample; undefined where there is none. `us` are the samples' times, rounded down to microseconds. */
export const matchNotes = (us: Float64Array, notes: Iterator<Note>): (Note | undefined)[] => {
  const matched: (Note | undefined)[] = [];
  let note = notes.next().value as Note | undefined;
  for (const at of us) {
    while (note !== undefined && Math.floor(note.toNs / NS_PER_US) < at) note = notes.next().value as Note | undefined;
    if (note === undefined || Math.floor(note.fromNs / NS_PER_US) > at) {
      matched.push(undefined);
      continue;
    }
    matched.push(note);
    // One note is one sample.
    note = notes.next().value as Note | undefined;
  }
  return matched;
};
