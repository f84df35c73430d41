// Checks all of a graph file: each byte under a checksum or compared with what must stand there, and everything the file says of itself
// counted. It changes nothing, and says nothing of what the values mean.

import { CorruptError, type GraphError, isDamage } from '../../container/graph-error.js';
import { type SectionEntry, SectionId, sectionName } from '../../container/layout.js';
import type { TransportReadOptions } from '../../container/transport/transport.js';
import type { CompactGraph } from '../compact-graph.js';
import { checkGraph } from './graph-checks.js';
import { checkKeys, type KeyCheck, type OrdinalFacts } from './key-checks.js';
import { checkEnds, checkPlaces, checkSections, uncheckedSections } from './layout-checks.js';

/** How a file is checked. */
export interface VerifyOptions extends TransportReadOptions {
  /** Called with each key in order; may throw `CorruptError`. */
  readonly checkKey?: KeyCheck;
  /** Called with blocked sections that only their user can check; left out: they are faults. */
  readonly onUnchecked?: (section: SectionEntry) => void;
}

const NO_CHECK: KeyCheck = () => {};

/** What is wrong with `file`, the first fault of each kind. What is no damage, as a file that cannot be read, is thrown. */
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
    throw new CorruptError(`the meta section of ${name} has a note that is no text`, 'meta');
  const hasIndexBlocks =
    container.find(SectionId.dictionaryIndexBlocks) !== undefined && file.dictionary.hasIndexBlocks;
  for (const section of uncheckedSections(container, meta, hasIndexBlocks)) {
    // Numbers from 1000 on belong to users of the file.
    if (options.onUnchecked === undefined || section.id < 1000)
      throw new CorruptError(`nothing vouches for ${sectionName(section.id)} of ${name}`, sectionName(section.id));
    options.onUnchecked(section);
  }
};
