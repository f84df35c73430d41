// Resources and scopes that were read before, by the bytes they came as: a process sends the same ones with every request, and the archive
// keeps one object once. Bounded: what is beyond makes the oldest leave, and large ones are never kept.
import type { ArchivedResource, ArchivedScope } from '../../record/archived-span.js';

const MAX_PARTS = 1000;
const MAX_KEY_LENGTH = 16 * 1024;

/** A bounded map from a message as it came to what it means. */
export class SharedParts<T> {
  readonly #parts = new Map<string, T>();
  /** Parts that had to leave. */
  evicted = 0;

  get(key: string): T | undefined {
    return this.#parts.get(key);
  }

  set(key: string, part: T): void {
    if (key.length > MAX_KEY_LENGTH) return;
    this.#parts.set(key, part);
    if (this.#parts.size <= MAX_PARTS) return;
    const [oldest] = this.#parts.keys();
    this.#parts.delete(oldest);
    this.evicted++;
  }
}

/** Resources and scopes of earlier requests, so that equal ones stay one object. */
export interface KnownParts {
  readonly resources: SharedParts<ArchivedResource>;
  readonly scopes: SharedParts<ArchivedScope>;
}

export const newKnownParts = (): KnownParts => ({ resources: new SharedParts(), scopes: new SharedParts() });
