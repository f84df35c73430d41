// "Tables" of docs/formats.md: texts, resources, scopes and shapes that spans of a segment share.
import { KINDS } from './bytes.mjs';

/** The symbol of what is told beside. */
const BESIDE = 255;

/** What spans share, by number. */
export const readTables = (r) => {
  const strings = r.texts(r.varint());
  const resources = r.list(r.resource);
  const scopes = r.list(r.scope);
  const shapes = r.list(() => readShape(r, strings, scopes));
  return { strings, resources, scopes, shapes };
};

export const readShape = (r, strings, scopes) => {
  const name = r.ref(strings);
  const kind = KINDS[r.byte()];
  const scope = r.varint();
  return { name, kind, scope: scope === 0 ? r.scope() : scopes[scope - 1] };
};

/** A thing of a table by its symbol; the last symbol says that more stands beside. */
export const tableThing = (symbol, table, side, inline) => {
  if (symbol < BESIDE) return table[symbol];
  const told = side.varint();
  return told === 0 ? inline() : table[told - 1 + BESIDE];
};
