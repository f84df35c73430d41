// Reads a segment, a graph or a write-ahead file by docs/formats.md alone: node examples/read-formats.mjs FILE. It shows graphs whole, and of
// a span its ids, name, start, duration, service and properties. It trusts the file: a reader of strangers' files must also check sums and
// refuse what the page says. What is compressed with zstd needs Node 22.15 or later.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import * as zlib from 'node:zlib';

const CODECS = [(plain) => plain, zlib.inflateRawSync, zlib.zstdDecompressSync];
const UNITS = [1_000_000, 1000, 100, 1];
const ELSEWHERE = 255;

const times = (count, make) => Array.from({ length: count }, (_, i) => make(i));
const sums = (numbers) => {
  const ends = [];
  for (const number of numbers) ends.push((ends.at(-1) ?? 0) + number);
  return ends;
};

/** "Numbers, texts and values": bytes, taken from the first on. */
class Reader {
  pending = 1; // a byte taken bit by bit: the last bit taken, those left above it, and a one above all
  constructor(bytes) {
    this.rest = bytes;
  }
  raw = (length) => {
    if (length > this.rest.length) throw new Error('the file ends too early');
    const taken = this.rest.subarray(0, length);
    this.rest = this.rest.subarray(length);
    this.pending = 1;
    return taken;
  };
  byte = () => this.raw(1)[0];
  u16 = () => this.raw(2).readUInt16LE();
  u32 = () => this.raw(4).readUInt32LE();
  u64 = () => this.raw(8).readBigUInt64LE();
  size = () => Number(this.u64());
  f64 = () => this.raw(8).readDoubleLE();
  id = () => this.raw(16).toString('hex');
  part = () => new Reader(this.raw(this.varint()));
  varint = () => {
    const low = this.byte();
    return low < 128 ? low : low - 128 + 128 * this.varint();
  };
  zigzag = () => {
    const n = this.varint();
    return n % 2 === 0 ? n / 2 : -(n + 1) / 2;
  };
  bit = () => {
    this.pending = this.pending > 3 ? this.pending >> 1 : 256 + this.byte();
    return this.pending & 1;
  };
  bits = (count) => times(count, this.bit).reduce((number, bit, i) => number + bit * 2 ** i, 0);
  zeros = () => (this.bit() === 1 ? 0 : 1 + this.zeros());
  list = (make) => times(this.varint(), make);
  /** Columns of fields such as `id:u16`, as rows. A `+` adds up the numbers of a column. */
  rows = (count, fields) => {
    const rows = times(count, () => ({}));
    for (const [, name, type, adds] of fields.matchAll(/(\w+):(\w+)(\+?)/g)) {
      const column = times(count, this[type]);
      for (const [i, value] of (adds ? sums(column) : column).entries()) rows[i][name] = value;
    }
    return rows;
  };
  row = (fields) => this.rows(1, fields)[0];
  textOf = (form) => this.raw(Math.floor(form / 2)).toString(form % 2 === 0 ? 'utf8' : 'utf16le');
  text = () => this.textOf(this.varint());
  texts = (count) => {
    if (this.byte() === 0) return times(count, this.varint).map(this.textOf);
    const different = this.list(this.varint).map(this.textOf);
    return times(count, () => different[this.varint()]);
  };
  bigint = () => {
    const form = this.varint();
    const magnitude = Buffer.from(this.raw(Math.floor(form / 2))).reverse();
    return BigInt(`0x0${magnitude.toString('hex')}`) * (form % 2 === 0 ? 1n : -1n);
  };
  blob = () => Uint8Array.from(this.raw(this.varint()));
  values = () => this.list(this.typed);
  map = () => Object.fromEntries(this.list(() => [this.text(), this.typed()]));
  types = 'text zigzag f64 no yes bigint blob values map f64 nothing'.split(' ');
  no = () => false;
  yes = () => true;
  nothing = () => null;
  typed = () => this[this.types[this.byte()]]();
  scope = () => this.row('name:text version:text properties:map');
  /** A thing of a table by number, from 1 on; it stands here where the number is 0. */
  known = (table, make) => {
    const number = this.varint();
    return number === 0 ? make() : table[number - 1];
  };
  shape = (strings) => {
    const name = this.known(strings, this.text);
    this.byte();
    this.known([], this.scope);
    return name;
  };
  column = (type, count) => {
    if (type === 0) return this.texts(count);
    if (type !== 2 && type !== 9) return times(count, this[this.types[type]]);
    const planes = this.raw(8 * count);
    return times(count, (i) => Buffer.from(times(8, (plane) => planes[plane * count + i])).readDoubleLE());
  };
  /** The properties of `count` spans. */
  properties = (count, strings) => {
    const columns = this.list(() => ({ key: this.known(strings, this.text), type: this.byte() }));
    const layouts = this.list(this.varint).map((length) => times(length, this.varint));
    const rows = times(count, () => layouts[this.varint()]);
    for (const [i, column] of columns.entries())
      column.values = this.column(column.type, rows.flat().filter((used) => used === i).length);
    return rows.map((row) => Object.fromEntries(row.map((i) => [columns[i].key, columns[i].values.shift()])));
  };
}

/** Leaves out fields that have no column: they are properties whose keys begin with NUL, so a key that begins so has one more. */
const ownProperties = (stored) => {
  const own = Object.entries(stored).filter(([key]) => !/^\0[a-z]/.test(key));
  return Object.fromEntries(own.map(([key, value]) => [key.replace(/^\0/, ''), value]));
};

/** "The container": sections, and blocks that lie one behind the other in a section. */
const openContainer = (file) => {
  const footer = new Reader(file.subarray(-56)).row('offset:size length:size');
  const toc = new Reader(file.subarray(footer.offset, footer.offset + footer.length));
  const sections = times(footer.length / 40, () =>
    toc.row('id:u16 graph:u16 flags:u16 codec:u16 offset:size stored:size inflated:size crc:size'),
  );
  const find = (id, graph = 65535) => sections.find((section) => section.id === id && section.graph === graph);
  const blocks = (id, list, graph, start = 0) => {
    let end = find(id, graph)?.offset + start;
    return list.map(({ stored, codec }) => {
      end += stored;
      const bytes = file.subarray(end - stored, end);
      return new Reader(stored === 0 ? bytes : CODECS[codec](bytes));
    });
  };
  const read = (id, graph) => blocks(id, [find(id, graph)], graph)[0];
  return { read, blocks, meta: JSON.parse(read(1).rest.toString()) };
};

/** "The dictionary": the blocks that a table describes, each of `parts` parts. Only a look-up needs their separators. */
const blockTable = (table, parts, section, file) => {
  const { count, start } = table.row('count:varint start:varint');
  for (const { rest } of table.rows(count, 'shared:varint rest:varint')) table.raw(rest);
  const columns = times(parts, () => table.rows(count, 'codec:byte stored:zigzag+ more:varint'));
  table.rows(count * parts, 'crc:u32');
  const all = times(count, (i) => columns.map((column) => column[i])).flat();
  const blocks = file.blocks(section, all, undefined, start);
  return times(count, () => blocks.splice(0, parts));
};

/** Strings of one length, ascending from each of which `isStart` is true. */
const fixedKeys = (keys, count, width, isStart = (i) => i === 0) => {
  const prefix = keys.part().rest;
  const low = keys.byte();
  const headBytes = Math.min(4, width - prefix.length);
  let last = 0;
  const heads = times(count, (i) => {
    last = isStart(i) ? keys.bits(8 * headBytes) : last + keys.zeros() * 2 ** low + keys.bits(low);
    return Buffer.from(last.toString(16).padStart(2 * headBytes, '0'), 'hex');
  });
  return heads.map((head) => Buffer.concat([prefix, head, keys.raw(width - prefix.length - headBytes)]));
};

const frontKeys = (keys, count, tails) => {
  const pairs = keys.varint();
  const shared = [0, ...times(count - 1, keys.varint)];
  let front = Buffer.alloc(0);
  return times(count, keys.varint).map((length, i) => {
    front = Buffer.concat([front.subarray(0, shared[i]), keys.raw(length - shared[i])]);
    return Buffer.concat([front, Buffer.from(tails.raw(pairs).toString('hex'))]);
  });
};

const groupedKeys = (keys, count) => {
  const { width, bytes, groups } = keys.row('width:varint bytes:varint groups:varint');
  const groupOf = times(groups, keys.varint).flatMap((size, group) => times(size, () => group));
  const firsts = fixedKeys(keys, groups, bytes);
  const rests = fixedKeys(keys, count, width - bytes, (i) => groupOf[i] !== groupOf[i - 1]);
  return rests.map((rest, i) => Buffer.concat([firsts[groupOf[i]], rest]));
};

const KEYS = [(keys, count) => fixedKeys(keys, count, keys.varint()), frontKeys, groupedKeys];

/** Give the keys of a block their places in one graph. */
const placeKeys = (keys, ordinals, keyOf) => {
  const form = ordinals.byte();
  const own = keys.filter(() => (form < 4 ? form > 0 : ordinals.bit() === 1));
  const packed = form % 4 === 1 && ordinals.row('lowest:varint width:byte');
  const places = packed
    ? times(own.length, () => packed.lowest + ordinals.bits(packed.width))
    : sums(times(own.length, ordinals.zigzag));
  for (const [i, place] of places.entries()) keyOf[place] = own[i];
};

/** The key of each ordinal, by graph. */
const readKeys = (file) => {
  const index = file.read(3);
  const head = index.row('form:byte levels:byte keys:varint bytes:varint blockKeys:varint graphs:varint');
  const tables = head.levels === 1 ? [index] : blockTable(index, 1, 4, file).flat();
  const graphs = times(head.graphs, () => []);
  for (const [i, [part, tails, ordinals]] of tables.flatMap((table) => blockTable(table, 3, 2, file)).entries()) {
    const keys = KEYS[part.byte()](part, Math.min(head.blockKeys, head.keys - i * head.blockKeys), tails);
    for (const keyOf of graphs) placeKeys(keys, ordinals, keyOf);
  }
  return graphs;
};

/** "Nodes": the reference lists of the nodes of a block, as ordinals. */
const references = (block, first, count, lists) => {
  const columns = times(lists, () => {
    const form = block.byte();
    let last = first;
    return times(count, block.varint).map((head, i) =>
      times(Math.floor(head / 2), (edge) => {
        if (edge === 0 && head % 2 === 1) return first + i + (form % 2 === 1 ? -1 : 1);
        last = (form < 2 ? first + i : last) + block.zigzag();
        return last;
      }),
    );
  });
  return times(count, (i) => columns.map((column) => column[i]));
};

const readGraph = (file, graph, keyOf) => {
  const { nodeCount, referenceLists, hasReferences, hasValues } = file.meta.graphs[graph];
  const table = file.read(13, graph);
  const column = (section, has, decode) => {
    const count = has ? Math.ceil(nodeCount / 512) : 0;
    const list = times(count, () => table.row('stored:varint inflated:varint codec:byte crc:u32'));
    const blocks = file.blocks(section, list, graph);
    return blocks.flatMap((block, i) => decode(block, 512 * i, Math.min(512, nodeCount - 512 * i)));
  };
  const edges = column(10, hasReferences, (block, first, count) => references(block, first, count, referenceLists));
  const values = column(11, hasValues, (block, _, count) => times(count, block.varint).map(block.raw));
  const keysOf = (list) => list.map((ordinal) => keyOf[ordinal]);
  const nodes = times(nodeCount, (i) => ({ key: keyOf[i], value: values[i], references: edges[i]?.map(keysOf) ?? [] }));
  return { nodes, ghosts: keyOf.slice(nodeCount) };
};

/** "Symbols": the table of each context. */
const symbolModel = (r) => {
  const contexts = r.list(r.varint);
  const [others, ...own] = times(contexts.length + 1, () => r.rows(r.varint(), 'symbol:byte end:varint+'));
  return (context = 0) => own[contexts.indexOf(context)] ?? others;
};

const symbolStream = (r) => {
  const { count, first } = r.row('count:varint first:u32');
  let state = first;
  const words = new Reader(r.raw(2 * count));
  return (table) => {
    const slot = state % 4096;
    const i = table.findIndex(({ end }) => slot < end);
    const start = table[i - 1]?.end ?? 0;
    state = (table[i].end - start) * Math.floor(state / 4096) + slot - start;
    if (state < 65536) state = state * 65536 + words.u16();
    return table[i].symbol;
  };
};

const numberOf = (bits, symbol) => {
  if (symbol === ELSEWHERE) return Number.NaN;
  if (symbol < 3) return [0, 1, -1][symbol];
  const step = (symbol - 1) >> 1;
  const open = ((step + 1) >> 1) - 1;
  const magnitude = (step % 2 === 1 ? 2 : 3) * 2 ** open + bits.bits(open);
  return symbol % 2 === 1 ? magnitude : -magnitude;
};

/** A thing of a table by its symbol. */
const thing = (symbol, table, side, make) =>
  symbol === ELSEWHERE ? side.known(table.slice(ELSEWHERE), make) : table[symbol];

/** A time in units from another, or one that stands elsewhere. */
const timeOf = (number, from, unit, side) => (Number.isNaN(number) ? side.u64() : from + BigInt(number * unit));

/** "Segments": the parts of each group that are read here, by section. */
const readGroups = (file) => {
  const r = file.read(1010);
  const count = r.varint();
  const groups = r.rows(count, 'spans:varint pieces:varint rank:varint trace:id start:u64 end:u64');
  for (const section of [1001, 1002, 1003]) {
    const places = r.rows(r.byte() * count, 'stored:varint inflated:varint codec:byte crc:u32');
    for (const [i, block] of file.blocks(section, places).entries()) groups[i][section] = block;
  }
  return groups;
};

const readPieces = (group, { columns, startUnit }, strings) => {
  const r = group[1001];
  const [take, side] = [symbolStream(r), r.part()];
  return times(group.pieces, () => {
    const number = (column) => numberOf(r, take(columns[column]()));
    // Its mark, the end of an id that the keys have whole.
    r.bits(40 - Math.clz32(group.pieces - 1));
    const spans = number(0);
    const start = timeOf(number(1), group.start, UNITS[startUnit], side);
    const length = number(2);
    if (Number.isNaN(length)) side.u64();
    times(4, (i) => number(3 + i));
    times(2, (i) => thing(take(columns[7 + i]()), strings, side, side.text));
    return { spans, start, length, offset: 0 };
  });
};

const readSegment = (file) => {
  const tables = file.read(1011);
  const strings = tables.texts(tables.varint());
  const [resources, , names] = [tables.map, tables.scope, () => tables.shape(strings)].map(tables.list);
  const r = file.read(1012);
  const { base, unit, startUnit, resourceBy } = r.row('base:byte unit:byte startUnit:byte resourceBy:byte');
  const [shapes, owners, statuses, starts, durations, ...columns] = times(14, () => symbolModel(r));
  const { nodes } = readGraph(file, 0, readKeys(file)[0]);
  const told = new Map();
  const spans = [];
  for (const group of readGroups(file)) {
    const properties = group[1003]?.rest.length > 0 ? group[1003].properties(group.spans, strings) : [];
    const bits = group[1002];
    const [take, side, takeTime, far] = [symbolStream(bits), bits.part(), symbolStream(bits), bits.part()];
    for (const piece of readPieces(group, { columns, startUnit }, strings)) {
      let [shape, resource] = [0, 0];
      for (const { key, references } of nodes.splice(0, piece.spans)) {
        const isFirst = shape === 0;
        shape = 1 + take(shapes(shape));
        resource = 1 + take(owners(resourceBy === 0 ? shape : resource));
        take(statuses(shape));
        const name = thing(shape - 1, names, side, () => side.shape(strings));
        const service = thing(resource - 1, resources, side, side.map)['service.name'];
        const parent = told.get(references[0][0]);
        const above = parent?.piece === piece ? parent : piece;
        const sibling = above.last ?? above;
        const from = [above.offset, sibling.offset, sibling === above ? above.offset : sibling.end][base];
        const context = isFirst ? 0 : shape;
        const offset = (from || 0) + numberOf(bits, takeTime(starts(context)));
        const start = timeOf(offset, piece.start, UNITS[unit], far);
        const number = numberOf(bits, takeTime(durations(context)));
        const length = isFirst && !Number.isNaN(piece.length) ? piece.length - number : number;
        const duration = timeOf(length, start, UNITS[unit], far) - start;
        above.last = { piece, offset, end: offset + length };
        told.set(key, above.last);
        const [id, parentId = ''] = [key, ...references[0]].map((bytes) => bytes.toString('hex'));
        const ids = { traceId: id.slice(0, 32), spanId: id.slice(32), parentSpanId: parentId.slice(32) };
        spans.push({ ...ids, name, start, duration, service, properties: ownProperties(properties.shift() ?? {}) });
      }
    }
  }
  return spans;
};

/** "Write-ahead files": the spans of a frame. */
const readFrame = (r) => {
  const tables = { map: [], scope: [], text: [''] };
  const known = (type) => {
    const number = r.varint();
    if (number === tables[type].length) tables[type].push(r[type]());
    return tables[type][number];
  };
  const ref = () => {
    if (r.rest[0] !== 0) return known('text');
    r.varint();
    return r.text();
  };
  const value = (type) => (type === 0 ? ref() : r[r.types[type]]());
  const values = () => Object.fromEntries(r.list(() => [ref(), value(r.byte())]));
  const id = (words) => times(words, () => r.u32().toString(16).padStart(8, '0')).join('');
  let traceId;
  const readSpan = () => {
    const { has } = r.row('has:byte kindAndStatus:byte');
    if (has & 2) traceId = id(4);
    const spanId = id(2);
    const parentSpanId = has & 1 ? id(2) : '';
    const start = r.u64();
    const duration = has & 64 ? r.u64() - start : BigInt(r.varint());
    const [resource] = ['map', 'scope'].map(known);
    const name = ref();
    if (has & 4) r.row('traceState:text message:text');
    const properties = ownProperties(has & 8 ? values() : {});
    if (has & 16) r.list(() => [ref(), r.u64(), values()]);
    if (has & 32) r.list(() => [id(6), r.text(), values()]);
    const service = resource['service.name'];
    return { traceId, spanId, parentSpanId, name, start, duration, service, properties };
  };
  const spans = [];
  while (r.rest.length > 0) spans.push(readSpan());
  return spans;
};

const readWriteAhead = (file) => {
  const spans = [];
  while (file.rest.length >= 12) {
    const { mark, length, crc } = file.row('mark:u32 length:u32 crc:u32');
    const isWhole = mark === 0xc4a71ef5 && length <= file.rest.length;
    if (!isWhole || zlib.crc32(file.rest.subarray(0, length)) !== crc) break;
    spans.push(...readFrame(new Reader(file.raw(length))));
  }
  return spans;
};

/** "Unsorted segments": the spans of all batches. */
const readUnsorted = (file) => {
  const table = file.read(1021);
  const form = 'spans:varint traces:varint start:u64 end:u64 stored:varint inflated:varint codec:byte crc:u32';
  return file
    .blocks(
      1020,
      times(table.varint(), () => table.row(form)),
    )
    .flatMap(readWriteAhead);
};

/** "Clustered files": the logical file. */
const unclustered = (file) => {
  const { length } = new Reader(file.subarray(-32)).row('length:u32');
  const map = new Reader(file.subarray(-32 - length));
  const logical = Buffer.alloc(map.varint());
  const [inClusters, others] = [map.list(map.varint), map.varint()];
  const count = (sums(inClusters).at(-1) ?? 0) + others;
  const gaps = times(count, map.zigzag);
  let [from, end] = [0, 0];
  for (const [i, bytes] of times(count, map.varint).entries()) {
    file.copy(logical, end + gaps[i], from, from + bytes);
    from += bytes;
    end += gaps[i] + bytes;
  }
  return logical;
};

/** What a file holds: spans, or the graphs of a graph file. */
export const readFormat = (bytes) => {
  if (bytes.toString('latin1', bytes.length - 8) === '1TSLCLPS') return readFormat(unclustered(bytes));
  if (bytes.toString('latin1', 0, 8) === 'SPLWAL02') return readWriteAhead(new Reader(bytes.subarray(8)));
  if (bytes.toString('latin1', 0, 8) !== 'SPLGRAF1') throw new Error('no segment, graph or write-ahead file');
  const file = openContainer(bytes);
  if (file.meta.notes.kind === 'batches of spans') return readUnsorted(file);
  return file.meta.notes.kind === 'spans'
    ? readSegment(file)
    : readKeys(file).map((keyOf, graph) => readGraph(file, graph, keyOf));
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  console.dir(readFormat(readFileSync(process.argv[2])), { depth: null, maxArrayLength: null });
