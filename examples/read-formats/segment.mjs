// "Segments" of docs/formats.md: all spans of a segment, trace by trace.
import { Reader, STATUSES, times } from './bytes.mjs';
import { readEvents, readLinks, readSparse } from './columns.mjs';
import { openContainer, placeBlocks, readKeys, restore } from './container.mjs';
import { keysByOrdinal, readColumns } from './graph.mjs';
import { numberOf, SymbolReader, symbolModel } from './symbols.mjs';
import { readShape, readTables, tableThing } from './tables.mjs';

const PARTS = { traceRows: 1001, spans: 1002, properties: 1003, events: 1004, links: 1005, texts: 1006 };
const UNITS = [1_000_000, 1000, 100, 1];
const ESCAPE = 255;

const readModels = (r) => {
  const [base, unit, startUnit, resourceBy] = times(4, r.byte);
  const [shape, resource, status, start, duration, ...row] = times(5 + 9, () => symbolModel(r));
  const units = { unit: UNITS[unit], startUnit: UNITS[startUnit] };
  return { base, ...units, resourceBy, shape, resource, status, start, duration, row };
};

const readGroups = (r, { bytes, place }) => {
  const count = r.varint();
  const spanCounts = times(count, r.varint);
  const rowCounts = times(count, r.varint);
  times(count, r.zigzag);
  r.raw(16 * count);
  const starts = times(count, r.u64);
  times(count, r.u64);
  const parts = times(count, () => ({}));
  for (const [part, section] of Object.entries(PARTS)) {
    if (r.byte() === 0) continue;
    const blocks = times(count, r.varint).map((stored) => ({ stored }));
    times(count, r.varint);
    for (const block of blocks) block.codec = r.byte();
    for (const block of blocks) block.crc = r.u32();
    placeBlocks(blocks, place(section).offset);
    for (const [i, block] of blocks.entries()) if (block.stored > 0) parts[i][part] = restore(bytes, block);
  }
  return times(count, (i) => ({
    spanCount: spanCounts[i],
    rowCount: rowCounts[i],
    startUnixNs: starts[i],
    ...parts[i],
  }));
};

/** Spans and duration of each piece of a trace. */
const readRows = (group, { row, startUnit, unit }, strings) => {
  const r = group.traceRows;
  const symbols = new SymbolReader(r);
  const side = new Reader(r.raw(r.varint()));
  const number = (column) => {
    const symbol = symbols.take(row[column](0));
    return symbol === ESCAPE ? undefined : numberOf(r, symbol);
  };
  return times(group.rowCount, () => {
    const spanCount = number(0);
    const start = number(1);
    const startUnixNs = start === undefined ? side.u64() : group.startUnixNs + BigInt(start * startUnit);
    const duration = number(2);
    const endUnixNs = duration === undefined ? side.u64() : startUnixNs + BigInt(duration * unit);
    times(4, (i) => number(3 + i));
    for (const column of [7, 8]) tableThing(symbols.take(row[column](0)), strings, side, side.text);
    return { spanCount, startUnixNs, endUnixNs, duration };
  });
};

const readSpans = (group, rows, parents, { base, unit, resourceBy, ...models }, tables) => {
  const r = group.spans;
  let symbols = new SymbolReader(r);
  const side = new Reader(r.raw(r.varint()));
  const spans = rows.flatMap((row) => {
    let [shape, resource] = [0, 0];
    return times(row.spanCount, (i) => {
      const symbol = symbols.take(models.shape(shape));
      shape = 1 + symbol;
      const resourceSymbol = symbols.take(models.resource(resourceBy === 0 ? shape : resource));
      resource = 1 + resourceSymbol;
      const code = STATUSES[symbols.take(models.status(shape))];
      const own = tableThing(symbol, tables.shapes, side, () => readShape(side, tables.strings, tables.scopes));
      const span = { code, ...own, resource: tableThing(resourceSymbol, tables.resources, side, side.resource) };
      return { ...span, row, isFirst: i === 0, context: i === 0 ? 0 : shape };
    });
  });
  symbols = new SymbolReader(r);
  const far = new Reader(r.raw(r.varint()));
  let [first, lastHead] = [0, undefined];
  spans.forEach((span, i) => {
    if (span.isFirst) [first, lastHead] = [i, undefined];
    const parent = parents[i] >= first && parents[i] < i ? spans[parents[i]] : undefined;
    const sibling = parent === undefined ? lastHead : parent.lastChild;
    if (parent === undefined) lastHead = span;
    else parent.lastChild = span;
    let against = parent?.start ?? 0;
    if (base > 0 && sibling !== undefined) against = sibling.start + (base === 2 ? sibling.duration : 0);
    if (Number.isNaN(against)) against = 0;
    const startSymbol = symbols.take(models.start(span.context));
    span.start = startSymbol === ESCAPE ? Number.NaN : against + numberOf(r, startSymbol);
    span.startUnixNs = startSymbol === ESCAPE ? far.u64() : span.row.startUnixNs + BigInt(span.start * unit);
    const symbol = symbols.take(models.duration(span.context));
    const told = symbol === ESCAPE ? Number.NaN : numberOf(r, symbol);
    span.duration = span.isFirst && span.row.duration !== undefined ? span.row.duration - told : told;
    span.endUnixNs = symbol === ESCAPE ? far.u64() : span.startUnixNs + BigInt(span.duration * unit);
  });
  return spans;
};

export const readSegment = (bytes) => {
  const file = openContainer(bytes);
  const [info] = file.meta.graphs;
  const keyOf = keysByOrdinal(readKeys(file), 0).map((key) => key.toString('hex'));
  const parentOf = readColumns(file, 0, info).references.map(([[parent = -1]]) => parent);
  const tables = readTables(file.read(1011));
  const models = readModels(file.read(1012));
  let first = 0;
  return readGroups(file.read(1010), file).flatMap((group) => {
    const own = times(group.spanCount, (i) => first + i);
    const parents = own.map((ordinal) => parentOf[ordinal] - first);
    first += group.spanCount;
    const spans = readSpans(group, readRows(group, models, tables.strings), parents, models, tables);
    const traceIds = own.map((ordinal) => keyOf[ordinal].slice(0, 32));
    const properties = group.properties?.properties(tables.strings, spans.length);
    const events = group.events && readEvents(group.events, spans, tables.strings);
    const links = group.links && readLinks(group.links, spans, tables.strings, traceIds);
    const [states, messages] = times(2, () => (group.texts ? readSparse(group.texts) : new Map()));
    return spans.map(({ name, kind, scope, resource, startUnixNs, endUnixNs, code }, i) => {
      const spanId = keyOf[own[i]].slice(32);
      const parentSpanId = parentOf[own[i]] < 0 ? '' : keyOf[parentOf[own[i]]].slice(32);
      const ids = { traceId: traceIds[i], spanId, parentSpanId, traceState: states.get(i) ?? '' };
      const status = { code, message: messages.get(i) ?? '' };
      const lists = { events: events?.[i] ?? [], links: links?.[i] ?? [] };
      const all = properties?.[i] ?? { properties: {} };
      return { ...ids, name, kind, startUnixNs, endUnixNs, status, ...all, ...lists, resource, scope };
    });
  });
};
