// An open segment file: what is read once when it is opened and checked against each other, the options of a read, and which errors mean
// damage. It reads no group.

import {
  BadSignatureError,
  BlockCache,
  Container,
  type ContainerOptions,
  CorruptError,
  Dictionary,
  type GraphError,
  type GraphMeta,
  LimitError,
  NO_GRAPH,
  type SectionEntry,
  SectionId,
  type Transport,
  type TransportReadOptions,
  TruncatedError,
  UnsupportedVersionError,
} from '@spanline/graph';
import {
  ClusteredTransport,
  columnPlace,
  decodeMeta,
  decodeNodeTable,
  KeyFilter,
  NodeColumns,
  sectionReader,
} from '@spanline/graph/internal';
import type { ByteReader } from 'spanline/internal/base';
import { KEY_BYTES } from '../values/fields.js';
import { GroupTable } from './groups.js';
import { KIND_NOTE, KIND_OF_SEGMENT, REPLACES_NOTE, SegmentSection } from './layout.js';
import { decodeModels, type SegmentModels } from './segment-models.js';
import { decodeSummary, type SegmentSummary } from './segment-summary.js';
import { SpanTables } from './span-tables.js';
import type { SegmentInfo } from './write-segment.js';

/** How to read. */
export interface SegmentReadOptions extends TransportReadOptions {
  /**
   * Called for each trace (or group of traces, then without an id) that cannot be read because the file is damaged there; the others are
   * answered. Left out: the first damage is thrown.
   */
  readonly onDamage?: (error: GraphError, traceId: string | undefined) => void;
}

/** Whether an error is of one place in a file. */
export const isDamage = (error: unknown): error is GraphError =>
  error instanceof CorruptError ||
  error instanceof LimitError ||
  error instanceof UnsupportedVersionError ||
  error instanceof TruncatedError;

/** What `action` gives, or the damage it met. */
export const guarded = <T>(action: () => T): T | GraphError => {
  try {
    return action();
  } catch (error) {
    if (isDamage(error)) return error;
    throw error;
  }
};

/**
 * What `load` gives for each of some items, all loaded together. Where that meets damage each is loaded alone, which shows what is spoilt, and
 * has the error in its place.
 */
export const eachOrDamage = async <T, R>(
  items: readonly T[],
  load: (some: readonly T[]) => Promise<readonly R[]>,
): Promise<readonly (R | GraphError)[]> => {
  try {
    return await load(items);
  } catch (error) {
    if (!isDamage(error)) throw error;
    if (items.length === 1) return [error];
    const alone: (R | GraphError)[] = [];
    for (const item of items) alone.push(...(await eachOrDamage([item], load)));
    return alone;
  }
};

/** How a segment is opened. */
export interface OpenSegmentOptions extends ContainerOptions {
  /** Decoded blocks kept: a cache to share with other segments, or bytes of one of its own (32 MiB). */
  readonly cache?: BlockCache | number;
  /**
   * Leave out its own filter of traces, because there is another: of a segment in a bucket it is not in what opening reads.
   * @internal
   */
  readonly withoutFilter?: boolean;
}

/** What opening brings. */
export interface SegmentFile {
  readonly name: string;
  /** Begins the keys of everything of this segment in a shared cache. */
  readonly cacheKey: string;
  readonly container: Container;
  /** Whether it is far away, and what is read of it in one round costs hardly more than a part of that. */
  readonly isFar: boolean;
  readonly cache: BlockCache;
  readonly dictionary: Dictionary;
  /** References of spans to their parents. */
  readonly parents: NodeColumns;
  readonly spanCount: number;
  readonly info: SegmentInfo;
  readonly groups: GroupTable;
  readonly tables: SpanTables;
  readonly models: SegmentModels;
  /** Undefined when there is none, a damaged one, or it was left out: any trace may be there. */
  readonly filter: KeyFilter | undefined;
}

/** What a segment of either form is, by its summary, its notes and its size. */
export const segmentInfo = (
  summary: SegmentSummary,
  { [REPLACES_NOTE]: replaces = '' }: Readonly<Record<string, string>>,
  { storedSize }: Container,
): SegmentInfo => ({ ...summary, replaces: replaces === '' ? [] : replaces.split('\n'), bytes: storedSize });

let opened = 0;

const SECTIONS = ['summary', 'groups', 'tables', 'models'] as const;

/** Open the sorted segment behind `transport`, whose container may be open already. */
export const openSegmentFile = async (
  transport: Transport,
  options: OpenSegmentOptions,
  known?: Container,
): Promise<SegmentFile> => {
  const { name } = transport;
  const container = known ?? (await Container.open(transport, options));
  const cache = options.cache instanceof BlockCache ? options.cache : new BlockCache(options.cache);
  const cacheKey = `segment ${opened++} `;
  const entries: SectionEntry[] = [
    container.need(SectionId.meta),
    container.need(SectionId.nodeTable, 0),
    ...SECTIONS.map((section) => container.find(SegmentSection[section]) ?? notASegment(name)),
  ];
  const [[metaBytes, nodeTable, summaryBytes, groupBytes, tableBytes, modelBytes], filter] = await Promise.all([
    container.read(entries, options),
    options.withoutFilter === true ? undefined : readFilter(container, options),
  ]);
  const meta = decodeMeta(metaBytes, name);
  if (meta.notes[KIND_NOTE] !== KIND_OF_SEGMENT) notASegment(name);
  const dictionary = await Dictionary.open(container, { cache, graphs: meta.graphs.length, signal: options.signal });
  checkKeys(meta, dictionary, name);
  const reader = (bytes: Buffer, section: string): ByteReader =>
    sectionReader(bytes, `the ${section} section of ${name}`, section);
  const tables = SpanTables.decode(reader(tableBytes, 'tables'));
  const summary = decodeSummary(reader(summaryBytes, 'summary'), tables.strings);
  const [graph] = meta.graphs;
  const spanCount = graph.nodeCount;
  if (summary.spanCount !== spanCount) {
    throw new CorruptError(`${name} has ${spanCount} spans, and ${summary.spanCount} by its summary`, 'summary');
  }
  const [blocks] = decodeNodeTable(nodeTable, [columnPlace(container, graph, 0, 'references')], name);
  return {
    name,
    cacheKey,
    container,
    isFar: container.transport instanceof ClusteredTransport,
    cache,
    dictionary,
    parents: new NodeColumns(container, graph, { references: blocks }, cache),
    spanCount,
    info: segmentInfo(summary, meta.notes, container),
    groups: new GroupTable(reader(groupBytes, 'groups'), container, spanCount),
    tables,
    models: decodeModels(reader(modelBytes, 'models')),
    filter,
  };
};

/** Without its filter a segment is slower, not wrong: a damaged one is passed over. */
const readFilter = async (container: Container, options: TransportReadOptions): Promise<KeyFilter | undefined> => {
  const entry = container.find(SegmentSection.traceFilter, NO_GRAPH);
  if (entry === undefined) return undefined;
  try {
    const [bytes] = await container.read([entry], options);
    return KeyFilter.decode(bytes, container.transport.name);
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
};

const notASegment = (name: string): never => {
  throw new BadSignatureError(`${name} is a graph file, but no segment of an archive`);
};

const checkKeys = ({ keyCount, graphs }: GraphMeta, dictionary: Dictionary, name: string): void => {
  const [parents] = graphs;
  const isSound =
    parents?.hasReferences === true &&
    parents.referenceLists === 1 &&
    dictionary.keyCount === keyCount &&
    dictionary.keyBytes === keyCount * KEY_BYTES &&
    parents.nodeCount + parents.ghostCount <= keyCount;
  if (!isSound) throw new CorruptError(`the meta section of ${name} describes no segment`, 'meta');
};
