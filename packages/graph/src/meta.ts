// What a graph file says of itself: its graphs, how they are ordered, how many nodes. Every number is checked against its bounds before
// anything is sized by it.
import { orThrow } from 'spanline/internal/base';
import { CorruptError, UnsupportedVersionError } from './container/graph-error.js';
import { ORDERS, type OrderKind } from './nodes/node-order.js';

/** Graphs of one file. */
export const MAX_GRAPHS = 64;
/** Reference lists of a node. */
export const MAX_REFERENCE_LISTS = 16;
/** Nodes and ghosts of one graph: ordinals fit 32 bits. */
export const MAX_ORDINALS = 2 ** 32 - 2;

/** One graph of a file. */
export interface GraphInfo {
  readonly nodeCount: number;
  /** Nodes that are referred to and absent; their ordinals follow those of the nodes. */
  readonly ghostCount: number;
  readonly edgeCount: number;
  readonly referenceLists: number;
  readonly order: OrderKind;
  /** Cycles were allowed when it was built. */
  readonly cycles: boolean;
  readonly hasReferences: boolean;
  readonly hasValues: boolean;
  readonly hasBackPointers: boolean;
}

/** The file as a whole. */
export interface GraphMeta {
  readonly keyCount: number;
  readonly graphs: readonly GraphInfo[];
  /** Bytes of a key that name its group; 0 when keys have none. */
  readonly groupBytes: number;
  /** What the builder was told to keep with the file: short text for people and programs. */
  readonly notes: Readonly<Record<string, string>>;
}

/** In one form: the same meta gives the same bytes. */
export const encodeMeta = ({ keyCount, graphs, groupBytes, notes }: GraphMeta): Buffer => {
  const sortedNotes = Object.fromEntries(Object.entries(notes).sort(([a], [b]) => (a < b ? -1 : 1)));
  return Buffer.from(JSON.stringify({ version: 1, keyCount, groupBytes, graphs, notes: sortedNotes }));
};

const isCount = (value: unknown, max: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= max;

const isGraph = (graph: Partial<GraphInfo>): boolean =>
  isCount(graph.nodeCount, MAX_ORDINALS) &&
  isCount(graph.ghostCount, MAX_ORDINALS) &&
  graph.nodeCount + graph.ghostCount <= MAX_ORDINALS &&
  isCount(graph.edgeCount, Number.MAX_SAFE_INTEGER) &&
  isCount(graph.referenceLists, MAX_REFERENCE_LISTS) &&
  ORDERS.includes(graph.order as OrderKind);

/** The meta section of `name`. */
export const decodeMeta = (bytes: Buffer, name: string): GraphMeta => {
  const corrupt = (cause?: unknown): CorruptError =>
    new CorruptError(`the meta section of ${name} makes no sense`, 'meta', undefined, { cause });
  type Read = Partial<GraphMeta> & { readonly version?: number };
  const meta = orThrow(() => JSON.parse(bytes.toString()) as Read, corrupt);
  if (typeof meta !== 'object' || meta === null) throw corrupt();
  if (meta.version !== 1)
    throw new UnsupportedVersionError(
      `${name} has a meta section of version ${String(meta.version)}; read it with a newer spanline`,
    );
  const { keyCount, graphs, groupBytes, notes } = meta;
  if (!isCount(keyCount, Number.MAX_SAFE_INTEGER) || !isCount(groupBytes, 4096) || !Array.isArray(graphs))
    throw corrupt();
  if (graphs.length > MAX_GRAPHS || typeof notes !== 'object' || notes === null) throw corrupt();
  for (const graph of graphs as Partial<GraphInfo>[])
    if (typeof graph !== 'object' || graph === null || !isGraph(graph)) throw corrupt();
  return { keyCount, graphs: graphs as GraphInfo[], groupBytes, notes };
};
