// One write-ahead file that is read while it is written. It stays open: what was written between the last look and the moment when a segment took its
// place is still read.
import { closeSync, openSync } from 'node:fs';
import type { CorruptError } from '@spanline/graph';
import type { SpanRows } from '../rows/span-rows.js';
import { WalTail } from '../wal/wal-reader.js';

export class FollowedWal {
  readonly #tail = new WalTail();
  readonly #descriptor: number;

  /** Throws what `openSync` throws, as for a file that is gone. */
  constructor(
    readonly name: string,
    readonly path: string,
  ) {
    this.#descriptor = openSync(path, 'r');
  }

  /** What is damaged as far as it was read. */
  get damage(): CorruptError | undefined {
    return this.#tail.damage;
  }

  /** What is new since the last call; undefined for nothing. Throws `TransportError`. */
  read(): SpanRows | undefined {
    return this.#tail.rows(this.#descriptor, this.path);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
