// The properties of a row, an event or a link, read from their entries by number. A view is made once and pointed at one after another.
import { internedName } from '../rows/name-table.js';
import type { PropertyValue } from '../rows/property.js';
import { type RowEntries, Tag } from '../rows/row-entries.js';
import type { SpanProperties } from './finished-span.js';

export class RowProperties implements SpanProperties {
  size = 0;
  /** What was left out: of a row properties, events and links; of an event or a link properties. */
  dropped = 0;
  droppedEvents = 0;
  droppedLinks = 0;
  /** Entry of the message that stands between properties and what was left out; -1 for none. */
  messageAt = -1;
  /** Where the properties are. */
  entries!: RowEntries;
  // The entry of each property: that of its key where that has no number.
  private places = new Int32Array(16);

  /** Point it at the properties from entry `at` on; gives the entry behind what was left out. */
  of(entries: RowEntries, at: number, end: number): number {
    const { words } = entries;
    this.entries = entries;
    this.size = 0;
    this.dropped = 0;
    this.droppedEvents = 0;
    this.droppedLinks = 0;
    this.messageAt = -1;
    let entry = at;
    while (entry < end) {
      const tag = words[entry * 4 + 1] & 0xff;
      if (tag > Tag.key) break;
      this.put(entry);
      entry = entryBehind(words, tag === Tag.key ? entry + 1 : entry);
    }
    if (entry < end && (words[entry * 4 + 1] & 0xff) === Tag.message) this.messageAt = entry++;
    if (entry < end && (words[entry * 4 + 1] & 0xff) === Tag.dropped) {
      this.dropped = words[entry * 4];
      this.droppedEvents = words[entry * 4 + 2];
      this.droppedLinks = words[entry * 4 + 3];
      entry++;
    }
    return entry;
  }

  key(index: number): string {
    const at = this.places[index] * 4;
    return this.isWritten(at) ? this.entries.textAt(at >> 2) : internedName(this.entries.words[at]);
  }

  value(index: number): PropertyValue {
    const entry = this.places[index];
    return this.entries.valueAt(this.isWritten(entry * 4) ? entry + 1 : entry);
  }

  /** The first entry of a property: its value, or its key where that has no number. */
  entryAt(index: number): number {
    return this.places[index];
  }

  get(key: string): PropertyValue | undefined {
    for (let i = 0; i < this.size; i++) if (this.key(i) === key) return this.value(i);
    return undefined;
  }

  private isWritten(at: number): boolean {
    return (this.entries.words[at + 1] & 0xff) === Tag.key;
  }

  private put(entry: number): void {
    if (this.size === this.places.length) {
      const places = new Int32Array(this.size * 2);
      places.set(this.places);
      this.places = places;
    }
    this.places[this.size++] = entry;
  }
}

// An array has its items behind it.
const entryBehind = (words: Int32Array, value: number): number =>
  (words[value * 4 + 1] & 0xff) === Tag.array ? value + 1 + words[value * 4 + 2] : value + 1;
