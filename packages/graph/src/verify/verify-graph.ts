// Checks all of a graph file: each byte under a checksum or compared with what must stand there (header, sections, waymarks between them, table of
// contents, footer), and everything the file says of itself counted. References and values are read in stretches, so that a graph of any size can be
// checked. Where cycles are allowed a reference may go against the order only inside a cycle. It changes nothing, and says nothing of what the
// values mean. A new check of graph files belongs in this folder.

import type { CompactGraph } from '../compact-graph.js';
import type { Container } from '../container/container.js';
import { CorruptError, type GraphError, isDamage } from '../container/graph-error.js';
import {
  decodeFooter,
  encodeFooter,
  encodeHeader,
  encodeToc,
  encodeWaymarks,
  FIRST_EXTRA_SECTION,
  FLAG_BLOCKED,
  FOOTER_BYTES,
  HEADER_BYTES,
  NO_GRAPH,
  type SectionEntry,
  SectionId,
  sectionName,
  TOC_ENTRY_BYTES,
} from '../container/layout.js';
import type { TransportReadOptions } from '../container/transport/transport.js';
import type { GraphView } from '../graph-view.js';
import type { GraphMeta } from '../meta.js';
import { type Adjacency, componentsOf, FoundCycle, type OrderKind, orderNodes } from '../nodes/node-order.js';
import { columnsOf, TABLE_COPIES } from '../nodes/node-table.js';
import { checkKeys, type KeyCheck, type OrdinalFacts } from './key-checks.js';

/** Whether a reference goes against an order. */
const goesAgainst = (order: OrderKind, node: number, target: number): boolean =>
  order === 'child-first' ? target <= node : target >= node;

/** For each component whether it is a cycle, or one of its nodes leads to one. */
const leadingToCycles = ({ offsets, targets }: Adjacency, components: Uint32Array): Uint8Array => {
  const leads = new Uint8Array(components.length);
  const sizes = new Uint32Array(components.length);
  for (const component of components) sizes[component]++;
  // Components have lower numbers than those they refer to.
  const nodes = Uint32Array.from(components.keys()).sort((a, b) => components[b] - components[a]);
  for (const node of nodes) {
    const own = components[node];
    if (sizes[own] > 1) leads[own] = 1;
    for (let i = offsets[node]; i < offsets[node + 1]; i++)
      if (targets[i] === node || leads[components[targets[i]]] === 1) leads[own] = 1;
  }
  return leads;
};

/** Every part of a graph; throws at the first thing that cannot be. */
const checkGraph = async (
  file: CompactGraph,
  graph: number,
  facts: OrdinalFacts,
  options?: TransportReadOptions,
): Promise<void> => {
  const view = file.graph(graph);
  checkForm(file, view);
  await checkTableCopies(file, graph, options);
  if (view.info.hasBackPointers) {
    const ranks = await view.ranks(options);
    const wrong = ranks.findIndex((rank, ordinal) => rank !== facts.ranks[ordinal]);
    if (wrong >= 0) throw lie(file, graph, `has another key for ordinal ${wrong} than its dictionary`, 'backPointers');
  }
  await checkNodes(file, view, facts, options);
};

const lie = (file: CompactGraph, graph: number, what: string, section = 'meta'): CorruptError =>
  new CorruptError(`graph ${graph} of ${file.container.transport.name} ${what}`, section);

const checkForm = (file: CompactGraph, { index, info }: GraphView): void => {
  const { referenceLists, hasReferences, hasValues, hasBackPointers, cycles, order } = info;
  const flags: unknown[] = [hasReferences, hasValues, hasBackPointers, cycles];
  const isSound =
    flags.every((flag) => typeof flag === 'boolean') &&
    hasReferences === referenceLists > 0 &&
    (order !== 'trace-contiguous' || file.meta.groupBytes > 0);
  if (!isSound) throw lie(file, index, 'is described by a meta section that contradicts itself');
};

/** A file has no copies, or those of all columns. */
const checkTableCopies = async (file: CompactGraph, graph: number, options?: TransportReadOptions): Promise<void> => {
  const { container } = file;
  const entries = Object.values(TABLE_COPIES).flatMap((id) => container.find(id, graph) ?? []);
  if (entries.length === 0) return;
  const [table, ...copies] = await container.read([container.need(SectionId.nodeTable, graph), ...entries], options);
  if (!Buffer.concat(copies).equals(table))
    throw lie(file, graph, 'has a second copy of its node table that is another than the first', 'nodeTable');
};

/** One walk over all nodes. */
const checkNodes = async (
  file: CompactGraph,
  view: GraphView,
  { groups }: OrdinalFacts,
  options?: TransportReadOptions,
): Promise<void> => {
  const { nodeCount, ghostCount, hasReferences, hasValues, edgeCount, order, cycles } = view.info;
  const lieOfGraph = (what: string): CorruptError => lie(file, view.index, what);
  const isOtherGroup = (a: number, b: number): boolean => groups !== undefined && groups[a] !== groups[b];
  for (let node = 1; groups !== undefined && node < nodeCount; node++)
    if (groups[node] < groups[node - 1]) throw lieOfGraph('is not ordered by groups of keys');
  let edges = 0;
  let crossesGroups = false;
  /** References to nodes that go against the order, from and to. */
  const against: number[] = [];
  const isReferred = new Uint8Array(ghostCount);
  const check = (node: number, target: number): void => {
    if (target >= nodeCount) isReferred[target - nodeCount] = 1;
    else if (isOtherGroup(target, node)) crossesGroups = true;
    else if (goesAgainst(order, node, target)) against.push(node, target);
  };
  if (hasReferences || hasValues) {
    for await (const nodes of view.scan({ references: hasReferences, values: hasValues }, options)) {
      for (const { ordinal, references = [] } of nodes) {
        for (const list of references) {
          edges += list.length;
          for (const target of list) check(ordinal, target);
        }
      }
    }
  }
  if (edges !== edgeCount) throw lieOfGraph(`has ${edges} references, its meta section says ${edgeCount}`);
  const unreferred = isReferred.indexOf(0);
  if (unreferred >= 0) throw lieOfGraph(`has the absent node ${nodeCount + unreferred}, to which nothing refers`);
  if (against.length > 0) {
    const wrong = (i: number): CorruptError =>
      lieOfGraph(`is not ordered ${order}: node ${against[i]} refers to ${against[i + 1]}`);
    if (!cycles) throw wrong(0);
    const references = await adjacencyOf(view, (node, target) => !isOtherGroup(node, target), options);
    const components = componentsOf(references);
    // A trace whose parents go round in a circle has no root; an archive orders it from any of its spans.
    const leads = order === 'trace-contiguous' ? leadingToCycles(references, components) : undefined;
    for (let i = 0; i < against.length; i += 2) {
      const [own, other] = [components[against[i]], components[against[i + 1]]];
      if (own !== other && leads?.[other] !== 1) throw wrong(i);
    }
  }
  if (cycles || !crossesGroups) return;
  // Groups are ordered one by one, which does not show a cycle through several.
  const references = await adjacencyOf(view, () => true, options);
  if (orderNodes({ kind: 'root-first', references, allowCycles: false }) instanceof FoundCycle)
    throw lieOfGraph('has a cycle, and was built to have none');
};

/** References of all lists to nodes, those that are `wanted`. */
const adjacencyOf = async (
  view: GraphView,
  wanted: (node: number, target: number) => boolean,
  options?: TransportReadOptions,
): Promise<Adjacency> => {
  const lists = await view.references(options);
  const offsets = new Uint32Array(view.nodeCount + 1);
  const targets: number[] = [];
  for (let node = 0; node < view.nodeCount; node++) {
    for (const list of lists) {
      for (const target of list.targets.subarray(list.offsets[node], list.offsets[node + 1]))
        if (target < view.nodeCount && wanted(node, target)) targets.push(target);
    }
    offsets[node + 1] = targets.length;
  }
  return { offsets, targets: Uint32Array.from(targets) };
};

const readAt = async (
  container: Container,
  offset: number,
  length: number,
  options?: TransportReadOptions,
): Promise<Buffer> => (await container.readStored([{ offset, length }], options))[0];

/** Header, table of contents and footer: their reserved bytes too. Opening a large file never reads its header. */
const checkEnds = async (container: Container, options?: TransportReadOptions): Promise<void> => {
  const { size, sections } = container;
  const { name } = container.transport;
  const header = await readAt(container, 0, HEADER_BYTES, options);
  if (!header.equals(encodeHeader()))
    throw new CorruptError(`the header of ${name} is damaged: ${header.toString('hex')}`, 'header');
  const footer = await readAt(container, size - FOOTER_BYTES, FOOTER_BYTES, options);
  if (!footer.equals(encodeFooter(decodeFooter(footer, size, name))))
    throw new CorruptError(`the footer of ${name} has something in its reserved bytes`, 'footer');
  const toc = await readAt(container, tocOffsetOf(container), sections.length * TOC_ENTRY_BYTES, options);
  if (!toc.equals(encodeToc(sections)))
    throw new CorruptError(`the table of contents of ${name} has something in its reserved bytes`, 'toc');
};

const tocOffsetOf = ({ size, sections }: Container): number => size - FOOTER_BYTES - sections.length * TOC_ENTRY_BYTES;

/** Sections lie one behind the other, each once; nothing but their waymarks stands between them. */
const checkPlaces = async (container: Container, options?: TransportReadOptions): Promise<void> => {
  const { sections } = container;
  const { name } = container.transport;
  const seen = new Set<string>();
  let at = HEADER_BYTES;
  let marked = 0;
  const checkGap = async (behind: number, end: number): Promise<void> => {
    if (end === at) return;
    const expected = encodeWaymarks(sections.slice(marked, behind));
    const isRight = expected.length === end - at && (await readAt(container, at, end - at, options)).equals(expected);
    if (!isRight) throw new CorruptError(`${name} has other bytes than waymarks from byte ${at} to ${end}`, 'waymarks');
    marked = behind;
  };
  for (let i = 0; i < sections.length; i++) {
    const { id, graph, offset, storedLength } = sections[i];
    if (seen.has(`${id} ${graph}`) || offset < at)
      throw new CorruptError(`${sectionName(id)} of ${name} is there twice, or lies inside another section`, 'toc');
    seen.add(`${id} ${graph}`);
    await checkGap(i, offset);
    at = offset + storedLength;
  }
  await checkGap(sections.length, tocOffsetOf(container));
};

/** The blocked sections a graph file describes: id, and graph or `NO_GRAPH`. */
const describedBy = ({ graphs }: GraphMeta, hasIndexBlocks: boolean): Set<string> => {
  const described = new Set([`${SectionId.dictionaryBlocks} ${NO_GRAPH}`]);
  if (hasIndexBlocks) described.add(`${SectionId.dictionaryIndexBlocks} ${NO_GRAPH}`);
  graphs.forEach((info, graph) => {
    for (const column of columnsOf(info)) described.add(`${SectionId[column]} ${graph}`);
  });
  return described;
};

/** Blocked sections whose bytes no table of the file has checksums of. */
const uncheckedSections = (
  { sections }: Container,
  meta: GraphMeta,
  hasIndexBlocks: boolean,
): readonly SectionEntry[] => {
  const described = describedBy(meta, hasIndexBlocks);
  return sections.filter(({ id, graph, flags }) => (flags & FLAG_BLOCKED) !== 0 && !described.has(`${id} ${graph}`));
};

/** How a file is checked. */
interface VerifyOptions extends TransportReadOptions {
  /** Called with each key in order; may throw `CorruptError`. */
  readonly checkKey?: KeyCheck;
  /** Called with blocked sections that only their user can check; left out: they are faults. */
  readonly onUnchecked?: (section: SectionEntry) => void;
}

const NO_CHECK: KeyCheck = () => {};

/** What is wrong with `file`, the first fault of each kind. What is not damage, as a file that cannot be read, is thrown. */
export async function* findFaults(file: CompactGraph, options: VerifyOptions = {}): AsyncGenerator<GraphError> {
  const { container, meta } = file;
  // Blocks that were decoded earlier may have changed since.
  file.clearCache();
  let facts: readonly OrdinalFacts[] = [];
  const checks: (() => Promise<void>)[] = [
    () => checkEnds(container, options),
    () => checkPlaces(container, options),
    async () => {
      // The sections that have a checksum of their own.
      for (const entry of container.sections)
        if ((entry.flags & FLAG_BLOCKED) === 0) await container.read([entry], options);
    },
    () => checkMeta(file, options),
    async () => {
      facts = await checkKeys(container, meta, options.checkKey ?? NO_CHECK, options);
    },
    ...meta.graphs.map((_, graph) => async () => {
      // Without keys nothing can be said of a graph that has not been said.
      if (facts.length > 0) await checkGraph(file, graph, facts[graph], options);
    }),
  ];
  for (const check of checks) {
    try {
      await check();
    } catch (error) {
      if (!isDamage(error)) throw error;
      yield error;
    }
  }
}

const checkMeta = async (file: CompactGraph, options: VerifyOptions): Promise<void> => {
  const { container, meta } = file;
  const { name } = container.transport;
  const copy = container.find(SectionId.metaCopy);
  if (copy !== undefined) {
    const [first, second] = await container.read([container.need(SectionId.meta), copy], options);
    if (!first.equals(second))
      throw new CorruptError(`the second copy of the meta section of ${name} is another than the first`, 'metaCopy');
  }
  if (Object.values(meta.notes).some((note) => typeof note !== 'string'))
    throw new CorruptError(`the meta section of ${name} has a note that is not text`, 'meta');
  const hasIndexBlocks =
    container.find(SectionId.dictionaryIndexBlocks) !== undefined && file.dictionary.hasIndexBlocks;
  for (const section of uncheckedSections(container, meta, hasIndexBlocks)) {
    if (options.onUnchecked === undefined || section.id < FIRST_EXTRA_SECTION)
      throw new CorruptError(`no checksum covers ${sectionName(section.id)} of ${name}`, sectionName(section.id));
    options.onUnchecked(section);
  }
};
