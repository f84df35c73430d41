// The call tree of a profile's samples under chosen labels, as columns for a flame graph; of two profiles, one tree with both. It must hold
// every nanosecond of CPU time of those samples, and never send more nodes than a page can draw.

import type { LabelledProfile } from '@spanline/profile';
import {
  type Frame,
  frameAt,
  frameName,
  labelValue,
  plainText,
  stackOf,
  stackWeights,
} from '@spanline/profile/internal';
import { getOrMake } from 'spanline/internal/base';
import type { FlameColumns } from './answers.js';

/** Nodes sent at most: those with the most time. */
const MAX_NODES = 100_000;

/** Which samples, and which way round. */
interface FlameChoice {
  readonly by: string;
  /** Samples with this value of `by` alone; undefined takes all. */
  readonly value?: string;
  /** Callers above the functions that used the CPU, in place of below. */
  readonly isInverted: boolean;
}

const placeOf = ({ url, line, column }: Frame): string => {
  if (url === '') return '';
  return plainText(line > 0 ? `${url}:${line}${column > 0 ? `:${column}` : ''}` : url);
};

class FlameTree {
  readonly #names: string[] = ['all'];
  readonly #places: string[] = [''];
  readonly #frames = new Map<string, number>([['\n', 0]]);
  readonly #children: Map<number, number>[] = [new Map()];
  readonly #frame: number[] = [0];
  readonly #parent: number[] = [-1];
  readonly #total: number[] = [0];
  readonly #self: number[] = [0];
  readonly #before: number[] = [0];

  add(profile: LabelledProfile, { by, value, isInverted }: FlameChoice, isBefore: boolean): void {
    const stacks = new Map<number, readonly number[]>();
    const total = isBefore ? this.#before : this.#total;
    for (const { node, label, cpuNs } of stackWeights(profile)) {
      if (value !== undefined && labelValue(profile.labels[label], by) !== value) continue;
      const frames = getOrMake(stacks, node, () => {
        const stack = stackOf(profile.nodes, node).map((row) => this.#frameOf(frameAt(profile.nodes, row)));
        return isInverted ? stack.reverse() : stack;
      });
      let at = 0;
      total[0] += cpuNs;
      for (const frame of frames) {
        at = this.#child(at, frame);
        total[at] += cpuNs;
      }
      // Inverted, the functions that used the CPU are the first below the root.
      if (!isBefore) this.#self[isInverted ? this.#child(0, frames[0]) : at] += cpuNs;
    }
  }

  columns(hasBefore: boolean): FlameColumns {
    const kept = this.#kept();
    const rows = new Map(kept.map((row, i) => [row, i]));
    const pick = (column: readonly number[]): number[] => kept.map((row) => Math.round(column[row]));
    return {
      names: this.#names,
      places: this.#places,
      frame: kept.map((row) => this.#frame[row]),
      parent: kept.map((row) => rows.get(this.#parent[row]) ?? -1),
      total: pick(this.#total),
      self: pick(this.#self),
      ...(hasBefore ? { before: pick(this.#before) } : {}),
      omitted: this.#frame.length - kept.length,
    };
  }

  /** The heaviest rows in their order. A parent weighs as much as its children and stands before them, so that it is kept with any of them. */
  #kept(): number[] {
    const weight = (row: number): number => this.#total[row] + this.#before[row];
    const all = this.#frame.map((_, row) => row);
    if (all.length <= MAX_NODES) return all;
    return all
      .sort((a, b) => weight(b) - weight(a) || a - b)
      .slice(0, MAX_NODES)
      .sort((a, b) => a - b);
  }

  #frameOf(frame: Frame): number {
    const name = frameName(frame);
    const place = placeOf(frame);
    return getOrMake(this.#frames, `${name}\n${place}`, () => {
      this.#places.push(place);
      return this.#names.push(name) - 1;
    });
  }

  #child(parent: number, frame: number): number {
    return getOrMake(this.#children[parent], frame, () => {
      this.#children.push(new Map());
      this.#parent.push(parent);
      this.#total.push(0);
      this.#self.push(0);
      this.#before.push(0);
      return this.#frame.push(frame) - 1;
    });
  }
}

/** The flame graph of a profile, or of what changed since another one. */
export const flameColumns = (profile: LabelledProfile, choice: FlameChoice, before?: LabelledProfile): FlameColumns => {
  const tree = new FlameTree();
  tree.add(profile, choice, false);
  if (before !== undefined) tree.add(before, choice, true);
  return tree.columns(before !== undefined);
};
