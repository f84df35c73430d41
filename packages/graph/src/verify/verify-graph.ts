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
import { type Adjacency, FoundCycle, type OrderKind, orderNodes } from '../nodes/node-order.js';
import { columnsOf, TABLE_COPIES } from '../nodes/node-table.js';
import { checkKeys, type KeyCheck, type OrdinalFacts } from './key-checks.js';

/** The strongly connected component of each node, by number (Tarjan). References to nodes of another group are left out. */
const componentsOf = ({ offsets, targets }: Adjacency, groups: Uint32Array | undefined): Uint32Array => {
  const count = offsets.length - 1;
  const component = new Uint32Array(count);
  const index = new Uint32Array(count);
  const low = new Uint32Array(count);
  const next = new Uint32Array(count);
  const isOpen = new Uint8Array(count);
  const open: number[] = [];
  const path: number[] = [];
  let visited = 0;
  let components = 0;
  for (let root = 0; root < count; root++) {
    if (index[root] > 0) continue;
    path.push(root);
    while (path.length > 0) {
      const node = path[path.length - 1];
      if (index[node] === 0) {
        index[node] = low[node] = ++visited;
        next[node] = offsets[node];
        open.push(node);
        isOpen[node] = 1;
      }
      let deeper = false;
      while (next[node] < offsets[node + 1]) {
        const target = targets[next[node]];
        const isWithin = target < count && (groups === undefined || groups[target] === groups[node]);
        if (isWithin && index[target] === 0) {
          path.push(target);
          deeper = true;
          break;
        }
        if (isWithin && isOpen[target] === 1 && low[target] < low[node]) low[node] = low[target];
        next[node]++;
      }
      if (deeper) continue;
      path.pop();
      if (low[node] !== index[node]) continue;
      for (let member = -1; member !== node; ) {
        member = open.pop() as number;
        isOpen[member] = 0;
        component[member] = components;
      }
      components++;
    }
  }
  return component;
};

/** Whether a reference goes against an order. */
const goesAgainst = (order: OrderKind, node: number, target: number): boolean =>
  order === 'child-first' ? target <= node : target >= node;

/** For each component whether it is a cycle, or one of its nodes leads to one. */
const leadingToCycles = (
  { offsets, targets }: Adjacency,
  groups: Uint32Array | undefined,
  components: Uint32Array,
): Uint8Array => {
  const leads = new Uint8Array(components.length);
  const sizes = new Uint32Array(components.length);
  for (const component of components) sizes[component]++;
  // Components have higher numbers than those they refer to.
  const nodes = Uint32Array.from(components.keys()).sort((a, b) => components[a] - components[b]);
  for (const node of nodes) {
    const own = components[node];
    if (sizes[own] > 1) leads[own] = 1;
    for (let i = offsets[node]; i < offsets[node + 1]; i++) {
      const target = targets[i];
      const isWithin = groups === undefined || groups[target] === groups[node];
      if (target === node || (isWithin && leads[components[target]] === 1)) leads[own] = 1;
    }
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
  await new NodeWalk(file, view, facts).run(options);
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
class NodeWalk {
  readonly #file: CompactGraph;
  readonly #view: GraphView;
  readonly #facts: OrdinalFacts;
  #edges = 0;
  /** References to nodes that go against the order, from and to. */
  readonly #against: number[] = [];
  #crossesGroups = false;
  readonly #isReferred: Uint8Array;

  constructor(file: CompactGraph, view: GraphView, facts: OrdinalFacts) {
    this.#file = file;
    this.#view = view;
    this.#facts = facts;
    this.#isReferred = new Uint8Array(view.ghostCount);
  }

  async run(options?: TransportReadOptions): Promise<void> {
    const view = this.#view;
    const facts = this.#facts;
    const { hasReferences, hasValues, edgeCount } = view.info;
    for (let node = 1; facts.groups !== undefined && node < view.nodeCount; node++)
      if (facts.groups[node] < facts.groups[node - 1]) throw this.#lie('is not ordered by groups of keys');
    if (hasReferences || hasValues) {
      for await (const nodes of view.scan({ references: hasReferences, values: hasValues }, options))
        for (const { ordinal, references = [] } of nodes) for (const list of references) this.#node(ordinal, list);
    }
    if (this.#edges !== edgeCount) throw this.#lie(`has ${this.#edges} references, its meta section says ${edgeCount}`);
    const unreferred = this.#isReferred.indexOf(0);
    if (unreferred >= 0) throw this.#lie(`has the absent node ${view.nodeCount + unreferred}, to which nothing refers`);
    await this.#checkOrder(options);
  }

  #node(node: number, targets: Uint32Array): void {
    const view = this.#view;
    const facts = this.#facts;
    this.#edges += targets.length;
    for (const target of targets) {
      if (target >= view.nodeCount) this.#isReferred[target - view.nodeCount] = 1;
      else if (facts.groups !== undefined && facts.groups[target] !== facts.groups[node]) this.#crossesGroups = true;
      else if (goesAgainst(view.info.order, node, target)) this.#against.push(node, target);
    }
  }

  async #checkOrder(options?: TransportReadOptions): Promise<void> {
    const against = this.#against;
    const { cycles, order } = this.#view.info;
    if (against.length > 0) {
      if (!cycles) throw this.#lie(`is not ordered ${order}: node ${against[0]} refers to ${against[1]}`);
      const references = await this.#adjacency(options);
      const components = componentsOf(references, this.#facts.groups);
      // A trace whose parents go round in a circle has no root; an archive orders it from any of its spans.
      const leads =
        order === 'trace-contiguous' ? leadingToCycles(references, this.#facts.groups, components) : undefined;
      const isInCycle = (node: number, target: number): boolean =>
        components[node] === components[target] || leads?.[components[target]] === 1;
      for (let i = 0; i < against.length; i += 2)
        if (!isInCycle(against[i], against[i + 1]))
          throw this.#lie(`is not ordered ${order}: node ${against[i]} refers to ${against[i + 1]}`);
    }
    if (cycles || !this.#crossesGroups) return;
    // Groups are ordered one by one, which does not show a cycle through several.
    const references = await this.#adjacency(options);
    if (orderNodes({ kind: 'root-first', references, allowCycles: false }) instanceof FoundCycle)
      throw this.#lie('has a cycle, and was built to have none');
  }

  /** References of all lists to nodes. */
  async #adjacency(options?: TransportReadOptions): Promise<Adjacency> {
    const view = this.#view;
    const lists = await view.references(options);
    const offsets = new Uint32Array(view.nodeCount + 1);
    const targets: number[] = [];
    for (let node = 0; node < view.nodeCount; node++) {
      for (const list of lists)
        for (let i = list.offsets[node]; i < list.offsets[node + 1]; i++)
          if (list.targets[i] < view.nodeCount) targets.push(list.targets[i]);
      offsets[node + 1] = targets.length;
    }
    return { offsets, targets: Uint32Array.from(targets) };
  }

  #lie(what: string): CorruptError {
    return lie(this.#file, this.#view.index, what);
  }
}

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
