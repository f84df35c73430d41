// A profile as Chrome's .cpuprofile, with labels as frames at the root: DevTools and editors draw it as it is, in order of time.
// The document also carries what it cannot say in its own words, so that it reads back without loss.

import { getOrMake } from 'spanline/internal/base';
import { type Frame, frameAt, ROOT_FRAME, stackOf } from '../call-tree.js';
import type { LabelledProfile, LabelRecord } from '../labelled-profile.js';
import { labelRowOf, pairText } from './label-text.js';

/** What the frame of a label has in place of a script: then the whole key and value. */
export const LABEL_URL = 'spanline:label?';

export interface CpuProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly scriptId: string;
    readonly url: string;
    /** From 0; -1 where unknown. */
    readonly lineNumber: number;
    readonly columnNumber: number;
  };
  hitCount: number;
  children?: number[];
}

/** The document of a .cpuprofile file; times in microseconds. */
export interface CpuProfileDocument {
  readonly nodes: readonly CpuProfileNode[];
  readonly startTime: number;
  readonly endTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
  readonly spanline: {
    readonly startUnixNs: string;
    readonly unit: LabelledProfile['unit'];
    readonly measure?: string;
    readonly intervalNs: number;
    readonly carrier: LabelledProfile['carrier'];
    readonly threadId: number;
    /** CPU time of each sample: time between samples, as the format has it, charges a sample for the pause before. */
    readonly cpuNs: readonly number[];
  };
}

const NS_PER_US = 1000;

// Half a surrogate pair has no place in a URL.
const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd');

const labelFrames = (record: LabelRecord): Frame[] =>
  Object.entries(record).map(([key, value]) => {
    const pair = [wellFormed(key), typeof value === 'string' ? wellFormed(value) : value];
    const url = `${LABEL_URL}${encodeURIComponent(JSON.stringify(pair))}`;
    return { functionName: pairText(key, value), url, line: 0, column: 0 };
  });

class NodeList {
  readonly nodes: CpuProfileNode[] = [];
  readonly #children: Map<string, number>[] = [];
  readonly #scripts = new Map<string, string>();

  constructor() {
    this.#add(ROOT_FRAME);
  }

  /** Index of the node of `frame` under the node at `parent`. */
  child(parent: number, frame: Frame): number {
    const key = JSON.stringify(frame);
    return getOrMake(this.#children[parent], key, () => {
      const at = this.#add(frame);
      this.nodes[parent].children ??= [];
      this.nodes[parent].children?.push(this.nodes[at].id);
      return at;
    });
  }

  #add({ functionName, url, line, column }: Frame): number {
    const scriptId = this.#scripts.get(url) ?? String(this.#scripts.size);
    this.#scripts.set(url, scriptId);
    const callFrame = { functionName, scriptId, url, lineNumber: line - 1, columnNumber: column - 1 };
    this.#children.push(new Map());
    return this.nodes.push({ id: this.nodes.length + 1, callFrame, hitCount: 0 }) - 1;
  }
}

/**
 * The profile as the document of a `.cpuprofile` file, each label key a frame at the root of its samples' stacks.
 *
 * For Chrome DevTools and VS Code: write it with `JSON.stringify`. Frames are in order of time, labelled or not.
 *
 * @example
 * ```ts
 * import { writeFileSync } from 'node:fs';
 * import { profile, toCpuProfile } from '@spanline/profile';
 * writeFileSync('app.cpuprofile', JSON.stringify(toCpuProfile(await profile({ durationMs: 20 }))));
 * ```
 */
export const toCpuProfile = (profile: LabelledProfile): CpuProfileDocument => {
  const { nodes, samples, labels } = profile;
  const list = new NodeList();
  const places = new Map<number, number>();
  const placeOf = (node: number, label: number): number => {
    return getOrMake(places, node * labels.length + label, () => {
      const stack = node === 0 ? [] : stackOf(nodes, node).map((row) => frameAt(nodes, row));
      return [...labelFrames(labels[label]), ...stack].reduce((parent, frame) => list.child(parent, frame), 0);
    });
  };
  const ids: number[] = [];
  const timeDeltas: number[] = [];
  let beforeUs = 0;
  for (let i = 0; i < samples.count; i++) {
    const node = list.nodes[placeOf(samples.node[i], labelRowOf(profile, i))];
    node.hitCount++;
    ids.push(node.id);
    const us = Math.round(samples.atNs[i] / NS_PER_US);
    timeDeltas.push(us - beforeUs);
    beforeUs = us;
  }
  const { startNs, endNs, startUnixNs, unit, measure, intervalNs, carrier, threadId } = profile;
  return {
    nodes: list.nodes,
    startTime: Math.round(startNs / NS_PER_US),
    endTime: Math.round(endNs / NS_PER_US),
    samples: ids,
    timeDeltas,
    spanline: {
      startUnixNs: String(startUnixNs),
      unit,
      ...(measure !== undefined && { measure }),
      intervalNs,
      carrier,
      threadId,
      cpuNs: Array.from(samples.cpuNs, Math.round),
    },
  };
};
