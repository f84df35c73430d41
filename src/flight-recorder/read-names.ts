// Makes blocks of another process readable here: numbers of names and of scopes become those of this thread. Only for blocks that were read
// from a file and belong to nobody else.
import { numberOfReadName } from '../local-span/name-table.js';
import { Flag } from '../local-span/row-chunk.js';
import { Tag } from '../local-span/row-entries.js';
import { numberOfScope, spanScope } from '../local-span/span-scopes.js';
import type { Block } from './block.js';

const SCOPE_BITS = (1 << Flag.scopeShift) - 1;

export const takeOverNames = ({ chunk, meta }: Block): void => {
  const names = new Map(meta.names.map(([number, text]) => [number, numberOfReadName(text)]));
  const scopes = new Map(
    meta.scopes.map(([number, { name, version, schemaUrl, properties }]) => [
      number,
      numberOfScope(spanScope(name, version, schemaUrl, properties)),
    ]),
  );
  const { words, count } = chunk.entries;
  for (let row = 0; row < chunk.count; row++) {
    chunk.names[row] = names.get(chunk.names[row]) ?? 0;
    const scope = chunk.flags[row] >> Flag.scopeShift;
    if (scope > 0) chunk.flags[row] = (chunk.flags[row] & SCOPE_BITS) | ((scopes.get(scope) ?? 0) << Flag.scopeShift);
  }
  for (let at = 0; at < count * 4; at += 4) {
    const tag = words[at + 1] & 0xff;
    if (tag <= Tag.array || tag === Tag.event) words[at] = names.get(words[at]) ?? 0;
  }
};
