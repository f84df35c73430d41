// Makes blocks of another process readable here: numbers of names and of scopes become those of this thread, in columns of the reader's own. The
// memory of a block must stay as it was read: what is written again, such as a recovered snapshot, has its own texts for its numbers.
import { internReadName, internScope, spanScope } from '../rows/name-table.js';
import { Flag, RowChunk } from '../rows/row-chunk.js';
import { RowEntries, Tag } from '../rows/row-entries.js';
import type { Block } from './block.js';

const SCOPE_BITS = (1 << Flag.scopeShift) - 1;

export const takeOverNames = (block: Block): void => {
  const { chunk, meta } = block;
  const numbers = new Map(meta.names.map(([number, text]) => [number, internReadName(text)]));
  const scopes = new Map(
    meta.scopes.map(([number, { name, version, schemaUrl, properties }]) => [
      number,
      internScope(spanScope(name, version, schemaUrl, properties)),
    ]),
  );
  const [names, flags, words] = [chunk.names.slice(), chunk.flags.slice(), chunk.entries.words.slice()];
  const { count, text } = chunk.entries;
  for (let row = 0; row < chunk.count; row++) {
    names[row] = numbers.get(names[row]) ?? 0;
    const scope = flags[row] >> Flag.scopeShift;
    if (scope > 0) flags[row] = (flags[row] & SCOPE_BITS) | ((scopes.get(scope) ?? 0) << Flag.scopeShift);
  }
  for (let at = 0; at < count * 4; at += 4) {
    const tag = words[at + 1] & 0xff;
    if (tag <= Tag.array || tag === Tag.event) words[at] = numbers.get(words[at]) ?? 0;
  }
  block.chunk = RowChunk.over({ ...chunk, names, flags, entries: RowEntries.over(words, count, text) }, chunk.count);
};
