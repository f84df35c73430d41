// Files that lie under checksums that are right: sections of a good file replaced, or a file written out of parts that do not fit.

import { Container } from '../../../src/container/container.js';
import { BufferSink, ContainerWriter } from '../../../src/container/container-writer.js';
import { FLAG_BLOCKED, HEADER_BYTES, type SectionEntry, SectionId } from '../../../src/container/layout.js';
import { BufferTransport } from '../../../src/container/transport/file-transport.js';
import { DictionaryBuilder } from '../../../src/dictionary/dictionary-builder.js';
import { encodeMeta, type GraphInfo, type GraphMeta } from '../../../src/meta.js';
import { writeBackPointers, writeReferences } from '../../../src/nodes/node-table.js';

/** The file with other bytes in sections that have a checksum of their own; undefined leaves a section as it is. */
export const withSections = (
  bytes: Buffer,
  replace: (entry: SectionEntry, inflated: Buffer) => Buffer | undefined,
): Buffer => {
  const container = Container.openSync(new BufferTransport(bytes));
  const sink = new BufferSink();
  const writer = new ContainerWriter(sink, 'none');
  let end = HEADER_BYTES;
  for (const entry of container.sections) {
    const { id, graph, flags, offset, storedLength } = entry;
    if (offset > end) writer.waymark();
    const [body] = container.readSync([entry]);
    if ((flags & FLAG_BLOCKED) !== 0) {
      const start = writer.position;
      sink.write(body);
      writer.blockedSection({ id, graph, flags: flags & ~FLAG_BLOCKED }, start);
    } else writer.section({ id, graph, flags }, replace(entry, body) ?? body);
    end = offset + storedLength;
  }
  writer.finish();
  return sink.toBuffer();
};

/** The file with another meta section, in both places. */
export const withMeta = (bytes: Buffer, change: (meta: GraphMeta) => unknown): Buffer =>
  withSections(bytes, ({ id }, body) =>
    id === SectionId.meta || id === SectionId.metaCopy
      ? Buffer.from(JSON.stringify(change(JSON.parse(body.toString()) as GraphMeta)))
      : undefined,
  );

/** What a file of one graph is made of. */
export interface Parts {
  readonly keys: readonly Buffer[];
  /** Of each key. */
  readonly ordinals: readonly number[];
  /** Of each node, by ordinal. */
  readonly references: readonly (readonly number[])[];
  /** Rank of the key of each ordinal. */
  readonly ranks: readonly number[];
  readonly ghostCount: number;
  readonly info?: Partial<GraphInfo>;
  readonly groupBytes?: number;
  /** Keys of the filter, if they are others. */
  readonly filterKeys?: readonly Buffer[];
}

/** A file of these parts, whatever they say. */
export const fileOf = (parts: Parts): Buffer => {
  const { keys, ordinals, references, ranks, ghostCount, info, groupBytes = 0, filterKeys } = parts;
  const sink = new BufferSink();
  const writer = new ContainerWriter(sink);
  const dictionary = new DictionaryBuilder(writer, { graphs: 1, blockKeys: 64, groupBytes });
  keys.forEach((key, i) => {
    dictionary.add(key, [ordinals[i]]);
  });
  dictionary.finishBlocks();
  const nodeCount = references.length;
  const offsets = new Uint32Array(nodeCount + 1);
  references.forEach((list, i) => {
    offsets[i + 1] = offsets[i] + list.length;
  });
  const table = writeReferences(writer, 0, nodeCount, [{ offsets, targets: Uint32Array.from(references.flat()) }]);
  const backPointers = writeBackPointers(writer, 0, Uint32Array.from(ranks));
  if (filterKeys !== undefined) writer.section({ id: SectionId.filter }, filterOf(filterKeys));
  writer.section({ id: SectionId.nodeTable, graph: 0 }, Buffer.concat([table, backPointers]));
  dictionary.finish();
  const graph: GraphInfo = {
    nodeCount,
    ghostCount,
    edgeCount: offsets[nodeCount],
    referenceLists: 1,
    order: 'child-first',
    cycles: false,
    hasReferences: true,
    hasValues: false,
    hasBackPointers: true,
    ...info,
  };
  writer.section({ id: SectionId.meta }, encodeMeta({ keyCount: keys.length, graphs: [graph], groupBytes, notes: {} }));
  writer.finish();
  return sink.toBuffer();
};

/** The filter section of a file with these keys. */
const filterOf = (keys: readonly Buffer[]): Buffer => {
  const sink = new BufferSink();
  const writer = new ContainerWriter(sink);
  const dictionary = new DictionaryBuilder(writer, { graphs: 1, filter: true });
  keys.forEach((key, i) => {
    dictionary.add(key, [i]);
  });
  dictionary.finish();
  writer.finish();
  const container = Container.openSync(new BufferTransport(sink.toBuffer()));
  return container.readSync([container.need(SectionId.filter)])[0];
};
