// Reads the entries of one row in the order of their grammar (`row-entries.ts`). Off the recording path.
import { nameOfNumber } from './name-table.js';
import type { PropertyList, PropertyValue } from './property.js';
import { type RowEntries, Tag } from './row-entries.js';
import type { PendingLink } from './span-details.js';

const NO_TAG = 0;

export class EntryReader {
  private readonly words: Int32Array;

  /** The entries from `at` to before `end`. */
  constructor(
    private readonly entries: RowEntries,
    private at: number,
    private readonly end: number,
  ) {
    this.words = entries.words;
  }

  /** The name with this number, or the one written here. */
  name(number: number): string {
    return number > 0 || this.tag !== Tag.name ? nameOfNumber(number) : this.text();
  }

  /** Key, value, key, value; null when there are none. */
  properties(): PropertyList | null {
    if (!this.isProperty) return null;
    const list: (string | PropertyValue)[] = [];
    while (this.isProperty) {
      const written = this.tag === Tag.key ? this.text() : undefined;
      const key = written ?? nameOfNumber(this.words[this.at * 4]);
      list.push(key, this.value());
    }
    return list;
  }

  /** The message of the status; undefined for none. */
  message(): string | undefined {
    return this.tag === Tag.message ? this.text() : undefined;
  }

  /** How many properties, events and links were left out. */
  dropped(): readonly [number, number, number] {
    if (this.tag !== Tag.dropped) return [0, 0, 0];
    const at = this.at++ * 4;
    return [this.words[at], this.words[at + 2], this.words[at + 3]];
  }

  /** True at an event; then read its ticks, its name, its properties and what was left out of them. */
  get hasEvent(): boolean {
    return this.tag === Tag.event;
  }

  /** The ticks of the event. */
  ticks(): number {
    return this.entries.doubles[this.at * 2 + 1];
  }

  eventName(): string {
    return this.name(this.words[this.at++ * 4]);
  }

  /** The next link without its properties; undefined when there is none. */
  link(): (Omit<PendingLink, 'properties' | 'ids'> & { readonly ids: readonly number[] }) | undefined {
    if (this.tag !== Tag.link) return undefined;
    const { words } = this;
    const at = this.at * 4;
    const ids = [words[at + 3], words[at + 4], words[at + 6], words[at + 7], words[at], words[at + 2]];
    this.at += 2;
    const next: number = this.tag;
    return { ids, traceState: next === Tag.linkState ? this.text() : '' };
  }

  private get tag(): number {
    return this.at < this.end ? this.words[this.at * 4 + 1] & 0xff : NO_TAG;
  }

  private get isProperty(): boolean {
    const { tag } = this;
    return tag !== NO_TAG && tag <= Tag.key;
  }

  private value(): PropertyValue {
    switch (this.tag) {
      case Tag.number:
        return this.entries.doubles[this.at++ * 2 + 1];
      case Tag.text:
        return this.text();
      case Tag.bigint:
        return BigInt(this.text());
      case Tag.array:
        return this.array();
      default:
        return (this.words[this.at++ * 4 + 1] & 0xff) === Tag.true;
    }
  }

  private array(): PropertyValue {
    const length = this.words[this.at++ * 4 + 2];
    const items: unknown[] = [];
    for (let i = 0; i < length; i++) items.push(this.value());
    return items as unknown as PropertyValue;
  }

  private text(): string {
    const at = this.at++ * 4;
    return this.entries.text.read(this.words[at + 2], this.words[at + 3], (this.words[at + 1] >> 8) & 0xff);
  }
}
