// What other writers hold: their write-ahead files, read as far as they are written. A reader holds as many spans as the writers do, and
// forgets them when they are in segments. It must never change their files.

import { join } from 'node:path';
import { GraphError } from '@spanline/graph';
import { getOrMake } from 'spanline/internal/base';
import type { ArchivedSpan } from 'spanline/internal/record';
import { isGone, type OwnedName, VanishedError } from './directory.js';
import { isInUse, type Owner } from './owner.js';
import { SpanList } from './span-list.js';
import { WalTail } from './wal/wal-reader.js';

interface Other {
  readonly owner: Owner;
  readonly path: string;
  readonly tail: WalTail;
  readonly spans: ArchivedSpan[];
  readonly list: SpanList;
}

/** Follows the write-ahead files of others. */
export class OtherWriters {
  readonly #directory: string;
  readonly #byId = new Map<string, Other>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * What the files of a listing hold now, apart from `ownIds`; `onUnread` is told of one that cannot be read, or not whole. Throws `VanishedError` when one
   * is not there any more.
   */
  read(
    wals: readonly OwnedName[],
    ownIds: ReadonlySet<string>,
    onUnread: (name: string, error: GraphError) => void,
  ): SpanList[] {
    const present = new Set(wals.map(({ id }) => id));
    for (const id of this.#byId.keys()) if (!present.has(id)) this.#byId.delete(id);
    return wals
      .flatMap((wal) => (ownIds.has(wal.id) ? [] : [this.#follow(wal, onUnread)]))
      .filter((list) => !list.isEmpty);
  }

  /** Bytes in them, as far as they were read, that their writers have torn; what a living one is about to write is not. */
  get tornBytes(): number {
    let torn = 0;
    for (const { tail, owner, path } of this.#byId.values()) {
      if (tail.tornBytes > 0 && !isInUse(owner, path)) torn += tail.tornBytes;
    }
    return torn;
  }

  #follow({ id, name, owner }: OwnedName, onUnread: (name: string, error: GraphError) => void): SpanList {
    const other = getOrMake(this.#byId, id, () => {
      const spans: ArchivedSpan[] = [];
      return { owner, path: join(this.#directory, name), tail: new WalTail(), spans, list: new SpanList(spans) };
    });
    try {
      for (const span of other.tail.read(join(this.#directory, name))) other.spans.push(span);
    } catch (error) {
      if (isGone(error)) throw new VanishedError(name);
      if (!(error instanceof GraphError)) throw error;
      onUnread(name, error);
    }
    if (other.tail.damage !== undefined) onUnread(name, other.tail.damage);
    return other.list;
  }
}
