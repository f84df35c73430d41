// The branches of a tree, drawn line by line. Deep levels are numbered, so that a line stays readable however deep the tree is.
import type { Glyphs } from './glyphs.js';

/** What is drawn for a node. */
export interface Branch {
  /** Left of the name. */
  readonly branch: string;
  /** Left of lines below it that belong to it. */
  readonly trunk: string;
}

/** Columns of a level. */
export const LEVEL_COLUMNS = 3;
const BLANK = ' '.repeat(LEVEL_COLUMNS);

/** Keeps what stands left of the nodes, which must come in the order of the drawing. */
export class Branches {
  /** By depth: what is drawn left of the children of the node that is open there. */
  readonly #trunks: string[] = [];
  readonly #glyphs: Glyphs;
  readonly #maxLevels: number;

  constructor(glyphs: Glyphs, maxLevels: number) {
    this.#glyphs = glyphs;
    this.#maxLevels = maxLevels;
  }

  next(depth: number, isLast: boolean, hasChildren: boolean): Branch {
    const { branch, lastBranch, trunk } = this.#glyphs;
    const above = depth === 0 ? '' : this.#trunks[depth - 1];
    const isDrawn = depth > 0 && depth <= this.#maxLevels;
    const own = isDrawn ? above + (isLast ? BLANK : trunk) : above;
    this.#trunks[depth] = own;
    return {
      branch: isDrawn ? above + (isLast ? lastBranch : branch) : depth === 0 ? '' : `${above}[${depth}] `,
      trunk: own + (hasChildren && depth < this.#maxLevels ? trunk : BLANK),
    };
  }
}
