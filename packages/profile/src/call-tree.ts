// Builds the call tree of a profile from stacks. Equal frames under one caller are one node, whatever was between them and is left
// out (labels, trampolines).
import { getOrMake } from 'spanline/internal/base';
import { type ProfileNodes, SampleKind } from './labelled-profile.js';

/** A function as a sample names it; `line` and `column` from 1, 0 where unknown. */
export interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly line: number;
  readonly column: number;
}

export const ROOT_FRAME: Frame = { functionName: '(root)', url: '', line: 0, column: 0 };

const KIND_OF: Readonly<Record<string, number>> = {
  '(idle)': SampleKind.idle,
  '(garbage collector)': SampleKind.gc,
  '(program)': SampleKind.program,
  [ROOT_FRAME.functionName]: SampleKind.program,
};

/** What the thread was doing in this innermost frame. */
export const kindOf = ({ functionName, url }: Pick<Frame, 'functionName' | 'url'>): number =>
  (url === '' ? KIND_OF[functionName] : undefined) ?? SampleKind.js;

export const frameAt = ({ functionName, url, line, column }: ProfileNodes, row: number): Frame => ({
  functionName: functionName[row],
  url: url[row],
  line: line[row],
  column: column[row],
});

/** Rows from the outermost frame to this one, without the root; the root alone when it is the frame. */
export const stackOf = ({ parent }: ProfileNodes, row: number): number[] => {
  if (parent[row] < 0) return [row];
  const rows: number[] = [];
  for (let at = row; parent[at] >= 0; at = parent[at]) rows.push(at);
  return rows.reverse();
};

const keyOf = ({ functionName, url, line, column }: Frame): string =>
  `${line}:${column}:${functionName.length}:${functionName}${url}`;

export class CallTree {
  readonly #frames: Frame[] = [ROOT_FRAME];
  readonly #parent: number[] = [-1];
  readonly #children: Map<string, number>[] = [new Map()];

  /** The row of `frame` called by `parent`; row 0 is the root. */
  row(parent: number, frame: Frame): number {
    return getOrMake(this.#children[parent], keyOf(frame), () => {
      this.#parent.push(parent);
      this.#children.push(new Map());
      return this.#frames.push(frame) - 1;
    });
  }

  nodes(): ProfileNodes {
    const frames = this.#frames;
    return {
      count: frames.length,
      parent: Int32Array.from(this.#parent),
      functionName: frames.map(({ functionName }) => functionName),
      url: frames.map(({ url }) => url),
      line: Int32Array.from(frames, ({ line }) => line),
      column: Int32Array.from(frames, ({ column }) => column),
    };
  }
}
