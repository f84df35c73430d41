// Checks all of a graph file: each byte under a checksum or compared with what must stand there (header, sections, waymarks between them,
// table of contents, footer), and everything the file says of itself counted. It changes nothing, and says nothing of what the values mean.
// A new check of graph files belongs in this folder.

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
import type { GraphMeta } from '../meta.js';
import { columnsOf } from '../nodes/node-table.js';
import { checkGraph } from './graph-checks.js';
import { checkKeys, type KeyCheck, type OrdinalFacts } from './key-checks.js';

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

/** The sections that have a checksum of their own. */
const checkSections = async (container: Container, options?: TransportReadOptions): Promise<void> => {
  for (const entry of container.sections)
    if ((entry.flags & FLAG_BLOCKED) === 0) await container.read([entry], options);
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
    () => checkSections(container, options),
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
