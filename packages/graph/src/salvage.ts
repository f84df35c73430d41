// Reads what is left of a damaged file, and writes it to a new one. Nothing of the new file may be wrong: what cannot be read is left out and
// reported, never guessed. The report is data, for people, for the command line and for tests.

import { statSync } from 'node:fs';
import { attempt } from 'spanline/internal/base';
import { optionsOf } from './builder/builder-options.js';
import { type BuildStats, CompactGraphBuilder } from './builder/graph-builder.js';
import { CompactGraph } from './compact-graph.js';
import { BadOptionsError, type CorruptError, type GraphError, isDamage } from './container/graph-error.js';
import { FIRST_EXTRA_SECTION, NO_GRAPH, type SectionEntry, SectionId } from './container/layout.js';
import type { GraphInfo, GraphMeta } from './meta.js';
import { type Damage, DamagedFile, type LostKeys } from './salvage/damaged-file.js';
import { SalvagedKeys, type SalvagedNode, SalvagedNodes } from './salvage/salvaged-nodes.js';
import { findFaults } from './verify/verify-graph.js';

/** What of a node is lost. */
export type LostPart = 'key' | 'references' | 'value';

/** Neighbouring nodes that lack the same. */
export interface LostNodes {
  /** Ordinal, in the damaged file, of the first of them. */
  readonly firstOrdinal: number;
  readonly count: number;
  readonly parts: readonly LostPart[];
  /** Their keys as far as they are known, of the first `MAX_LISTED_KEYS` lost nodes of a graph. */
  readonly keys: readonly Buffer[];
}

/** What became of one graph. */
export interface SalvagedGraph {
  readonly nodeCount: number;
  /** Nodes that the new file has. */
  readonly keptNodes: number;
  /** Kept nodes that lack a part; none unless `incomplete: 'keep'`. */
  readonly incompleteNodes: number;
  readonly lost: readonly LostNodes[];
  /** References, among those of kept nodes, to keys that are lost: they are placeholders in the new file. */
  readonly placeholders: number;
}

/** What became of a file. */
export interface SalvageReport {
  readonly path: string;
  readonly bytes: number;
  /** True: nothing is damaged. */
  readonly isUndamaged: boolean;
  readonly damage: readonly Damage[];
  readonly keyCount: number;
  readonly lostKeys: readonly LostKeys[];
  readonly graphs: readonly SalvagedGraph[];
  /** Extra sections that the new file lacks: damaged, or of a graph whose nodes have other ordinals now. */
  readonly lostSections: readonly { readonly id: number; readonly graph?: number }[];
  /** Blocked sections of a user of the file, for whose bytes only that user has checksums. */
  readonly unchecked: readonly { readonly id: number; readonly graph?: number }[];
  /** The new file; left out when none was asked for. */
  readonly built?: BuildStats;
}

/** Keys of lost nodes that are listed, for each graph. */
const MAX_LISTED_KEYS = 10_000;

interface OpenLoss {
  readonly firstOrdinal: number;
  count: number;
  readonly parts: readonly LostPart[];
  readonly keys: Buffer[];
}

/** Gathers lost nodes in the order of their ordinals; neighbours that lack the same parts are taken together. */
class LossList {
  readonly #losses: OpenLoss[] = [];
  #listed = 0;

  add(ordinal: number, parts: readonly LostPart[], key: Uint8Array | undefined): void {
    const last = this.#losses[this.#losses.length - 1];
    const isNext = last !== undefined && last.firstOrdinal + last.count === ordinal;
    const isSame = isNext && last.parts.join() === parts.join();
    const loss: OpenLoss = isSame ? last : { firstOrdinal: ordinal, count: 0, parts, keys: [] };
    if (!isSame) this.#losses.push(loss);
    loss.count++;
    if (key === undefined || this.#listed === MAX_LISTED_KEYS) return;
    this.#listed++;
    loss.keys.push(Buffer.from(key));
  }

  result(): LostNodes[] {
    return this.#losses;
  }
}

/** How a file is salvaged. */
export interface SalvageOptions {
  /** What to do with a node whose references or value are lost: leave it out (default), or keep it with none. */
  readonly incomplete?: 'drop' | 'keep';
  /**
   * The key of what a node refers to when that key is lost. Default: `?lost-GRAPH-ORDINAL`; give your own where keys have a form. No two
   * may be the same.
   */
  readonly placeholderKey?: (graph: number, ordinal: number) => Uint8Array;
  /** Memory for building the new file; all readable keys are in memory beside it. Default 256 MiB. */
  readonly memoryBytes?: number;
  readonly tempDir?: string;
  /** Inflated bytes of one block or section at most. Default 64 MiB. */
  readonly maxBlockBytes?: number;
}

/** Whether two paths, however they are written, lead to one file. */
const isSameFile = (path: string, other: string): boolean => {
  if (path === other) return true;
  // Undefined where it is not there.
  const [a, b] = [path, other].map((one) => attempt(() => statSync(one, { bigint: true })));
  return a !== undefined && a.dev === b?.dev && a.ino === b.ino;
};

const defaultPlaceholder = (graph: number, ordinal: number): Uint8Array => Buffer.from(`?lost-${graph}-${ordinal}`);

/**
 * Read what is left of a damaged graph file, and write it to `target` if one is given.
 *
 * Use it when opening or reading a file throws `CorruptError` or `TruncatedError`, or `spanline graph verify` reports damage. A node is
 * kept when its key, its references and its value can all be read; nodes that others refer to and that are not kept become ghosts. What
 * is described twice in the file (which blocks there are, its meta section) is lost only when both copies are; a file that is cut off is
 * read up to the column in which it ends. Blocks have no second copy, but for some of a clustered file: 128 keys, 512 nodes' references or
 * values go with one. Of an undamaged file the new one is an equal copy, compressed by deflate. Rejects with `CorruptError` when nothing can be read at all, and
 * as `CompactGraphBuilder` does.
 *
 * @example
 * ```ts
 * import { salvage } from '@spanline/graph';
 * const report = await salvage('damaged.graph', 'salvaged.graph').catch(() => undefined);
 * for (const { message } of report?.damage ?? []) console.log(message);
 * ```
 */
export const salvage = async (path: string, target?: string, options: SalvageOptions = {}): Promise<SalvageReport> => {
  if (target !== undefined && isSameFile(path, target))
    throw new BadOptionsError(`salvage ${path} to another path: the damaged file may be of use yet`);
  const file = DamagedFile.open(path, options.maxBlockBytes);
  let report: SalvageReport;
  try {
    report = new Salvage(file, target, options).run();
  } finally {
    file.close();
  }
  // What is in one piece may still say of itself what is not so.
  return report.isUndamaged ? withFaults(report, options.maxBlockBytes) : report;
};

const withFaults = async (report: SalvageReport, maxBlockBytes: number | undefined): Promise<SalvageReport> => {
  const damage: Damage[] = [];
  const unchecked: { id: number; graph?: number }[] = [];
  const onUnchecked = ({ id, graph }: SectionEntry): void => {
    unchecked.push(graph === NO_GRAPH ? { id } : { id, graph });
  };
  const note = (fault: GraphError): void => {
    const { section = 'file', block } = fault as Partial<CorruptError>;
    damage.push({ section, ...(block === undefined ? {} : { block }), message: fault.message });
  };
  try {
    const file = await CompactGraph.open(report.path, { maxBlockBytes, maxWalkBytes: Number.MAX_SAFE_INTEGER });
    try {
      for await (const fault of findFaults(file, { onUnchecked })) note(fault);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (!isDamage(error)) throw error;
    note(error);
  }
  return { ...report, damage, isUndamaged: damage.length === 0, unchecked };
};

class Salvage {
  readonly #file: DamagedFile;
  readonly #options: SalvageOptions;
  readonly #meta: GraphMeta;
  readonly #keys: SalvagedKeys;
  readonly #builder: CompactGraphBuilder | undefined;

  constructor(file: DamagedFile, target: string | undefined, options: SalvageOptions) {
    this.#file = file;
    this.#options = options;
    this.#meta = file.meta();
    this.#keys = new SalvagedKeys(file, this.#meta);
    this.#builder = target === undefined ? undefined : this.#newBuilder(target);
  }

  run(): SalvageReport {
    try {
      const graphs = this.#meta.graphs.map((info, graph) => this.#salvageGraph(info, graph));
      const lostKeys = this.#keys.lost();
      const lostSections = this.#copyExtraSections(graphs, lostKeys.length > 0);
      this.#file.checkOthers();
      const built = this.#builder?.finishSync();
      const { damage, bytes } = this.#file;
      const isUndamaged = damage.length === 0;
      const { keyCount } = this.#meta;
      return {
        path: this.#file.name,
        bytes,
        isUndamaged,
        damage,
        keyCount,
        lostKeys,
        graphs,
        lostSections,
        unchecked: [],
        ...(built && { built }),
      };
    } catch (error) {
      this.#builder?.abort();
      throw error;
    }
  }

  #newBuilder(target: string): CompactGraphBuilder {
    return new CompactGraphBuilder(target, {
      graphs: this.#meta.graphs.map((info) => optionsOf(info)),
      groupBytes: this.#meta.groupBytes,
      notes: this.#meta.notes,
      blockKeys: this.#keys.blockKeys,
      filter: this.#file.container.find(SectionId.filter) !== undefined,
      memoryBytes: this.#options.memoryBytes,
      tempDir: this.#options.tempDir,
    });
  }

  #salvageGraph(info: GraphInfo, graph: number): SalvagedGraph {
    const builder = this.#builder;
    const options = this.#options;
    const lost = new LossList();
    let [keptNodes, incompleteNodes, placeholders] = [0, 0, 0];
    for (const node of new SalvagedNodes(this.#file, this.#keys, info, graph)) {
      const parts = lostParts(node, info);
      if (parts.length > 0) lost.add(node.ordinal, parts, node.key);
      const { key } = node;
      if (key === undefined || (parts.length > 0 && options.incomplete !== 'keep')) continue;
      keptNodes++;
      if (parts.length > 0) incompleteNodes++;
      const references = Array.from({ length: info.referenceLists }, (_, list) =>
        Array.from(node.references?.[list] ?? [], (target) => {
          const known = this.#keys.keyOf(graph, target);
          if (known === undefined) placeholders++;
          return known ?? (options.placeholderKey ?? defaultPlaceholder)(graph, target);
        }),
      );
      builder?.add(graph, key, node.value, references);
    }
    return { nodeCount: info.nodeCount, keptNodes, incompleteNodes, lost: lost.result(), placeholders };
  }

  /** What belongs to ordinals belongs to nothing when they are others: such sections are lost with the nodes. */
  #copyExtraSections(
    graphs: readonly SalvagedGraph[],
    lostKeys: boolean,
  ): { readonly id: number; readonly graph?: number }[] {
    const file = this.#file;
    const builder = this.#builder;
    const isWhole = graphs.map(({ lost, placeholders }) => !lostKeys && lost.length === 0 && placeholders === 0);
    const lostSections: { id: number; graph?: number }[] = [];
    for (const { id, graph } of file.container.sections) {
      if (id < FIRST_EXTRA_SECTION) continue;
      const bytes = file.decoded(id, graph, (body) => body);
      const fits = graph === NO_GRAPH ? isWhole.every(Boolean) : isWhole[graph];
      const name = graph === NO_GRAPH ? { id } : { id, graph };
      if (bytes === undefined || !fits) lostSections.push(name);
      else builder?.extraSection(id, name.graph, bytes);
    }
    return lostSections;
  }
}

const lostParts = ({ key, references, value }: SalvagedNode, { hasReferences, hasValues }: GraphInfo): LostPart[] => [
  ...(key === undefined ? (['key'] as const) : []),
  ...(hasReferences && references === undefined ? (['references'] as const) : []),
  ...(hasValues && value === undefined ? (['value'] as const) : []),
];
