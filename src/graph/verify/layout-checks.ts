// Checks that every byte of a file belongs to something: header, sections, waymarks between them, table of contents, footer. What no
// checksum covers is compared with the only bytes that may stand there.
import type { Container } from '../../container/container.js';
import { CorruptError } from '../../container/graph-error.js';
import {
  decodeFooter,
  encodeFooter,
  encodeHeader,
  encodeToc,
  FLAG_BLOCKED,
  FOOTER_BYTES,
  HEADER_BYTES,
  NO_GRAPH,
  type SectionEntry,
  SectionId,
  sectionName,
  TOC_ENTRY_BYTES,
} from '../../container/layout.js';
import type { TransportReadOptions } from '../../container/transport/transport.js';
import { encodeWaymarks } from '../../container/waymark.js';
import type { GraphMeta } from '../meta.js';

const readAt = async (
  container: Container,
  offset: number,
  length: number,
  options?: TransportReadOptions,
): Promise<Buffer> => (await container.readStored([{ offset, length }], options))[0];

/** Header, table of contents and footer: their reserved bytes too. Opening a large file never reads its header. */
export const checkEnds = async (container: Container, options?: TransportReadOptions): Promise<void> => {
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
export const checkPlaces = async (container: Container, options?: TransportReadOptions): Promise<void> => {
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
export const checkSections = async (container: Container, options?: TransportReadOptions): Promise<void> => {
  for (const entry of container.sections)
    if ((entry.flags & FLAG_BLOCKED) === 0) await container.read([entry], options);
};

/** The blocked sections a graph file describes: id, and graph or `NO_GRAPH`. */
const describedBy = ({ graphs }: GraphMeta, hasIndexBlocks: boolean): Set<string> => {
  const described = new Set([`${SectionId.dictionaryBlocks} ${NO_GRAPH}`]);
  if (hasIndexBlocks) described.add(`${SectionId.dictionaryIndexBlocks} ${NO_GRAPH}`);
  graphs.forEach(({ hasReferences, hasValues, hasBackPointers }, graph) => {
    if (hasReferences) described.add(`${SectionId.references} ${graph}`);
    if (hasValues) described.add(`${SectionId.values} ${graph}`);
    if (hasBackPointers) described.add(`${SectionId.backPointers} ${graph}`);
  });
  return described;
};

/** Blocked sections whose bytes no table of the file vouches for. */
export const uncheckedSections = (
  { sections }: Container,
  meta: GraphMeta,
  hasIndexBlocks: boolean,
): readonly SectionEntry[] => {
  const described = describedBy(meta, hasIndexBlocks);
  return sections.filter(({ id, graph, flags }) => (flags & FLAG_BLOCKED) !== 0 && !described.has(`${id} ${graph}`));
};
