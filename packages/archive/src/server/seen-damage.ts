// What a query met that cannot be read. Its answer must say so: one that looks whole would be taken for all there is.
import { MISSING_SERVICE } from 'spanline/internal/formats';
import { HttpError } from './http-error.js';
import type { ReadOptions } from './ports.js';

/** Files that are named in an answer at most. */
const NAMED = 20;

/** The damage that one query met. */
export class SeenDamage {
  readonly #byFile = new Map<string, string>();
  /** How the query reads. */
  readonly options: ReadOptions;

  constructor(signal: AbortSignal) {
    this.options = {
      signal,
      unnamedService: MISSING_SERVICE,
      onDamage: ({ file, message }) => {
        if (!this.#byFile.has(file)) this.#byFile.set(file, message);
      },
    };
  }

  /** What to say, a line for each file; nothing when all could be read. */
  get messages(): readonly string[] {
    const lines = [...this.#byFile].map(
      ([file, message]) => `a part of the archive cannot be read: ${file}: ${message}`,
    );
    const more = lines.length - NAMED;
    return more > 0 ? [...lines.slice(0, NAMED), `${more} further files cannot be read`] : lines;
  }

  /** Throws when nothing was found and something could not be read: the answer would say that there is nothing. */
  checkNothing(found: number): void {
    const { messages } = this;
    if (found === 0 && messages.length > 0) throw new HttpError(500, messages.join('; '));
  }
}
