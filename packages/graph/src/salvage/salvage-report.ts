// What salvage found, as data: for people, for the command line and for tests.
import type { BuildStats } from '../builder/graph-builder.js';

/** Something of the file that cannot be read. */
export interface Damage {
  /** Name of the section, or of the fixed part of the file. */
  readonly section: string;
  readonly graph?: number;
  /** Number of the block; left out when the section is damaged as a whole. */
  readonly block?: number;
  /** What is wrong with it. */
  readonly message: string;
}

/** Keys that cannot be read. */
export interface LostKeys {
  /** Rank of the first of them. */
  readonly firstRank: number;
  readonly count: number;
  /** The last readable key before them; left out when there is none. */
  readonly after?: Buffer;
  /** The first readable key behind them; left out when there is none. */
  readonly before?: Buffer;
}

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
export class LossList {
  readonly #losses: OpenLoss[] = [];
  #listed = 0;

  add(ordinal: number, parts: readonly LostPart[], key: Uint8Array | undefined): void {
    const last = this.#losses[this.#losses.length - 1];
    const isNext = last !== undefined && last.firstOrdinal + last.count === ordinal;
    const loss = isNext && last.parts.join() === parts.join() ? last : this.#begin(ordinal, parts);
    loss.count++;
    if (key === undefined || this.#listed === MAX_LISTED_KEYS) return;
    this.#listed++;
    loss.keys.push(Buffer.from(key));
  }

  result(): LostNodes[] {
    return this.#losses;
  }

  #begin(firstOrdinal: number, parts: readonly LostPart[]): OpenLoss {
    const loss = { firstOrdinal, count: 0, parts, keys: [] };
    this.#losses.push(loss);
    return loss;
  }
}
