// What a file is built from, checked before anything is built, and what `add` refuses. All of a node is checked before a byte is kept: a node
// that is refused must leave no trace.

import { tmpdir } from 'node:os';
import { flag, oneOf, wholeNumber } from 'spanline/internal/base';
import type { Compression } from '../container/codec.js';
import { BadOptionsError, BadValueError, badOptions } from '../container/graph-error.js';
import { MAX_BLOCK_KEYS, MIN_BLOCK_KEYS } from '../dictionary/dictionary-index.js';
import { type KeyCodec, WANTED_CODECS } from '../dictionary/key-block.js';
import { checkKey, MAX_KEY_BYTES, shownKey } from '../dictionary/key-bytes.js';
import { type GraphInfo, MAX_GRAPHS, MAX_REFERENCE_LISTS } from '../meta.js';
import { MAX_DEGREE } from '../nodes/node-blocks.js';
import { ORDERS, type OrderKind } from '../nodes/node-order.js';

/** Bytes of a value at most. */
export const MAX_VALUE_BYTES = 16 * 1024 * 1024;

const NONE = new Uint8Array(0);

/** The value to keep for a node of `graph`; empty where the graph keeps none. Throws `BadKeyError` or `BadValueError`. */
export const checkNode = (
  graph: Required<GraphOptions>,
  key: Uint8Array,
  value: Uint8Array | undefined,
  references: readonly (readonly Uint8Array[])[],
): Uint8Array => {
  checkKey(key);
  const bytes = value ?? NONE;
  if (!(bytes instanceof Uint8Array))
    throw new BadValueError(`the value of ${shownKey(key)} is a Uint8Array or Buffer, not ${typeof value}`);
  if (!graph.values && bytes.length > 0)
    throw new BadValueError(`${shownKey(key)} has a value, and its graph was opened with values: false`);
  if (bytes.length > MAX_VALUE_BYTES) {
    throw new BadValueError(
      `the value of ${shownKey(key)} has ${bytes.length} bytes, more than the ${MAX_VALUE_BYTES} a node can keep`,
    );
  }
  if (!Array.isArray(references) || references.length !== graph.referenceLists) {
    throw new BadValueError(
      `${shownKey(key)} has ${Array.isArray(references) ? references.length : 'no'} reference lists, its graph ${graph.referenceLists}`,
    );
  }
  for (const list of references) {
    if (!Array.isArray(list)) throw new BadValueError(`a reference list of ${shownKey(key)} must be an array`);
    if (list.length > MAX_DEGREE) throw new BadValueError(`${shownKey(key)} has more than ${MAX_DEGREE} references`);
    for (const reference of list) checkKey(reference);
  }
  return bytes;
};

/** One graph to be built. */
export interface GraphOptions {
  /** Reference lists of every node, 0 to 16. */
  readonly referenceLists: number;
  readonly order: OrderKind;
  /** Keep a value with every node. Default true. */
  readonly values?: boolean;
  /** Keep which key each node has; without it nodes cannot name themselves. Default true. */
  readonly backPointers?: boolean;
  /** What to do when references go round in a circle. Default `refuse`. */
  readonly cycles?: 'refuse' | 'allow';
}

/** How a file is built. */
export interface GraphBuilderOptions {
  /** The graphs of the file, 1 to 64; `add` names them by their place here. */
  readonly graphs: readonly GraphOptions[];
  /** Memory to use; beyond it data goes to a temporary file. At least 1 MiB and one more for each graph. Default 256 MiB. */
  readonly memoryBytes?: number;
  /** Where the temporary file is. Default: the system's directory for such files. */
  readonly tempDir?: string;
  /** How keys are written. Default `auto`: by what is smallest. */
  readonly keyCodec?: KeyCodec | 'auto';
  /** Bytes at the start of a key that name its group, as trace ids do. Default 0: none. */
  readonly groupBytes?: number;
  /** Keys of a dictionary block, 64 to 1024: more make the file smaller and a look-up slower. Default 128, 256 beyond 262,144 keys. */
  readonly blockKeys?: number;
  /** Write a filter, by which most absent keys are known without a read. Default false. */
  readonly filter?: boolean;
  /** Default `deflate`, which every runtime reads. */
  readonly compression?: Compression;
  /** Short texts kept with the file. */
  readonly notes?: Readonly<Record<string, string>>;
}

/** Options with nothing left open, but for the keys of a block: they may depend on how many there are. */
export interface CheckedOptions extends Required<Omit<GraphBuilderOptions, 'graphs' | 'blockKeys'>> {
  readonly graphs: readonly Required<GraphOptions>[];
  readonly blockKeys: number | undefined;
}

const MIB = 1024 * 1024;
const DEFAULT_MEMORY_BYTES = 256 * MIB;
/** All notes together: they are part of every first read. */
const MAX_NOTE_BYTES = 16 * 1024;

const refuse = (what: string): never => {
  throw new BadOptionsError(what);
};

const checkGraph = (graph: GraphOptions, i: number, groupBytes: number): Required<GraphOptions> => {
  if (typeof graph !== 'object' || graph === null) refuse(`graphs[${i}] is an object, not ${String(graph)}`);
  const { referenceLists, order, values = true, backPointers = true, cycles = 'refuse' } = graph;
  wholeNumber(`graphs[${i}].referenceLists`, referenceLists, [0, MAX_REFERENCE_LISTS], badOptions);
  oneOf(`graphs[${i}].order`, order, ORDERS, badOptions);
  oneOf(`graphs[${i}].cycles`, cycles, ['refuse', 'allow'], badOptions);
  flag(`graphs[${i}].values`, values, badOptions);
  flag(`graphs[${i}].backPointers`, backPointers, badOptions);
  if (order === 'trace-contiguous' && groupBytes === 0)
    refuse(`graphs[${i}] is trace-contiguous, which needs groupBytes: how many bytes of a key name its trace`);
  return { referenceLists, order, values, backPointers, cycles };
};

const checkNotes = (notes: Readonly<Record<string, string>>): void => {
  let bytes = 0;
  for (const [name, text] of Object.entries(notes)) {
    if (typeof text !== 'string') refuse(`the note ${name} is a text, not ${typeof text}`);
    bytes += Buffer.byteLength(name) + Buffer.byteLength(text);
  }
  if (bytes > MAX_NOTE_BYTES) refuse(`notes take ${bytes} bytes, more than the ${MAX_NOTE_BYTES} there are for them`);
};

/** The options by which a graph was built. */
export const optionsOf = (info: GraphInfo, allowCycles = info.cycles): GraphOptions => ({
  referenceLists: info.referenceLists,
  order: info.order,
  values: info.hasValues,
  backPointers: info.hasBackPointers,
  cycles: allowCycles ? 'allow' : 'refuse',
});

/** `options` with their defaults, or `BadOptionsError`. */
export const checkOptions = (options: GraphBuilderOptions): CheckedOptions => {
  const {
    graphs,
    memoryBytes = DEFAULT_MEMORY_BYTES,
    tempDir = tmpdir(),
    keyCodec = 'auto',
    groupBytes = 0,
    blockKeys,
    filter = false,
    compression = 'deflate',
    notes = {},
  } = options;
  if (!Array.isArray(graphs) || graphs.length === 0 || graphs.length > MAX_GRAPHS)
    refuse(`graphs is a list of 1 to ${MAX_GRAPHS} graphs`);
  wholeNumber('groupBytes', groupBytes, [0, MAX_KEY_BYTES - 1], badOptions);
  wholeNumber('memoryBytes', memoryBytes, [(1 + graphs.length) * MIB], badOptions);
  if (blockKeys !== undefined) wholeNumber('blockKeys', blockKeys, [MIN_BLOCK_KEYS, MAX_BLOCK_KEYS], badOptions);
  oneOf('keyCodec', keyCodec, WANTED_CODECS, badOptions);
  if (keyCodec === 'grouped' && groupBytes === 0)
    refuse('keyCodec grouped needs groupBytes: how many bytes name a group');
  oneOf('compression', compression, ['deflate', 'zstd', 'none'], badOptions);
  flag('filter', filter, badOptions);
  if (typeof tempDir !== 'string') refuse('tempDir is the path of a directory');
  checkNotes(notes);
  const checked = graphs.map((graph: GraphOptions, i: number) => checkGraph(graph, i, groupBytes));
  return { graphs: checked, memoryBytes, tempDir, keyCodec, groupBytes, blockKeys, filter, compression, notes };
};
