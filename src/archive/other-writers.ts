// What other writers hold: their write-ahead files, read as far as they are written. A reader holds as many spans as the writers do, and
// forgets them when they are in segments. It must never change their files.

import { join } from 'node:path';
import { getOrMake } from '../base/maps/get-or-make.js';
import { GraphError } from '../container/graph-error.js';
import type { ArchivedSpan } from '../trace/archived-span.js';
import type { OwnedName } from './file-names.js';
import { SpanList } from './span-list.js';
import { isGone, VanishedError } from './vanished.js';
import { WalTail } from './wal/wal-reader.js';

interface Other {
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

  #follow({ id, name }: OwnedName, onUnread: (name: string, error: GraphError) => void): SpanList {
    const other = getOrMake(this.#byId, id, () => {
      const spans: ArchivedSpan[] = [];
      return { tail: new WalTail(), spans, list: new SpanList(spans) };
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
