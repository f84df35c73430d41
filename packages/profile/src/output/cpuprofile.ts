// Chrome's .cpuprofile, written with labels as frames at the root, so that DevTools and editors draw it as it is, in order of time, and with what it
// cannot say in words of its own, so that it reads back without loss; and read, ours and those of DevTools and `node --cpu-prof`. Frames of
// trampolines are left out, so that one function is one node whoever called it.
import { attempt, getOrMake } from 'spanline/internal/base';
import { CallTree, type Frame, frameAt, stackOf } from '../call-tree.js';
import {
  carrierOf,
  type LabelledProfile,
  type LabelRecord,
  type ProfileNodes,
  recordFrom,
} from '../labelled-profile.js';
import { trampolineIndex } from '../trampoline-pool.js';
import { MAX_DEPTH, notReadable, type Place, ProfileDraft } from './profile-draft.js';
import { labelRowOf, pairText } from './select-labels.js';

/** What the frame of a label has in place of a script: then the whole key and value. */
const LABEL_URL = 'spanline:label?';

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

/** Nodes as the format has them, in the order of the rows; `hits` are the rows of samples. */
const cpuProfileNodes = (nodes: ProfileNodes, hits: readonly number[]): readonly CpuProfileNode[] => {
  const scripts = new Map<string, number>();
  const list = Array.from({ length: nodes.count }, (_, row): CpuProfileNode => {
    const { functionName, url, line, column } = frameAt(nodes, row);
    const scriptId = String(getOrMake(scripts, url, () => scripts.size));
    const callFrame = { functionName, scriptId, url, lineNumber: line - 1, columnNumber: column - 1 };
    return { id: row + 1, callFrame, hitCount: 0 };
  });
  for (const row of hits) list[row].hitCount++;
  for (const { id } of list.slice(1)) {
    const caller = list[nodes.parent[id - 1]];
    caller.children ??= [];
    caller.children.push(id);
  }
  return list;
};

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
  const tree = new CallTree();
  const places = new Map<number, number>();
  const placeOf = (node: number, label: number): number => {
    return getOrMake(places, node * labels.length + label, () => {
      const stack = node === 0 ? [] : stackOf(nodes, node).map((row) => frameAt(nodes, row));
      return [...labelFrames(labels[label]), ...stack].reduce((parent, frame) => tree.row(parent, frame), 0);
    });
  };
  const rows: number[] = [];
  const timeDeltas: number[] = [];
  let beforeUs = 0;
  for (let i = 0; i < samples.count; i++) {
    rows.push(placeOf(samples.node[i], labelRowOf(profile, i)));
    const us = Math.round(samples.atNs[i] / NS_PER_US);
    timeDeltas.push(us - beforeUs);
    beforeUs = us;
  }
  const { startNs, endNs, startUnixNs, unit, measure, intervalNs, carrier, threadId } = profile;
  return {
    nodes: cpuProfileNodes(tree.nodes(), rows),
    startTime: Math.round(startNs / NS_PER_US),
    endTime: Math.round(endNs / NS_PER_US),
    samples: rows.map((row) => row + 1),
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

const DEFAULT_INTERVAL_NS = 1_000_000;

interface Document extends Omit<CpuProfileDocument, 'nodes' | 'spanline'> {
  readonly nodes: readonly (CpuProfileNode & { readonly parent?: number })[];
  readonly spanline?: Readonly<Partial<Record<keyof CpuProfileDocument['spanline'], unknown>>>;
}

/** 285 years in microseconds: sums of such times stay numbers. */
const MAX_US = Number.MAX_SAFE_INTEGER;

const isTimes = (value: unknown, max: number): value is number[] =>
  isNumbers(value) && value.every((each) => Math.abs(each) <= max);

const isNumbers = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'number' && Number.isFinite(each));

const isNode = (value: unknown): boolean => {
  const { id, callFrame, children } = (value ?? {}) as Partial<CpuProfileNode>;
  const { functionName, url, lineNumber, columnNumber } = callFrame ?? {};
  return (
    typeof id === 'number' &&
    typeof functionName === 'string' &&
    typeof url === 'string' &&
    Number.isSafeInteger(lineNumber) &&
    Number.isSafeInteger(columnNumber) &&
    (children === undefined || isNumbers(children))
  );
};

const checked = (value: unknown): Document => {
  const document = (value ?? {}) as Partial<Document>;
  const { nodes, samples, timeDeltas, startTime, endTime } = document;
  if (!Array.isArray(nodes) || !nodes.every(isNode)) throw notReadable('its "nodes" are not those of a .cpuprofile');
  if (!isNumbers(samples) || !isTimes(timeDeltas, MAX_US) || samples.length !== timeDeltas.length) {
    throw notReadable('"samples" and "timeDeltas" must be lists of numbers of one length, times of at most 2^53 us');
  }
  const { cpuNs, intervalNs } = document.spanline ?? {};
  if (isNumbers(cpuNs) && cpuNs.some((ns) => ns < 0)) throw notReadable('"cpuNs" has negative times');
  if (isNumbers(cpuNs) && !isTimes(cpuNs, MAX_US * NS_PER_US)) throw notReadable('"cpuNs" has times beyond 2^53 us');
  if (intervalNs !== undefined && !isTimes([intervalNs], MAX_US * NS_PER_US)) {
    throw notReadable('"intervalNs" must be a time of at most 2^53 us');
  }
  if (!isTimes([startTime, endTime], MAX_US)) {
    throw notReadable('"startTime" and "endTime" must be times of at most 2^53 us');
  }
  return document as Document;
};

const labelOf = (url: string): readonly [string, string | number] | undefined => {
  if (!url.startsWith(LABEL_URL)) return undefined;
  // A script of somebody's may be called so.
  return attempt(() => {
    const [key, value] = JSON.parse(decodeURIComponent(url.slice(LABEL_URL.length))) as unknown[];
    const isLabel = typeof key === 'string' && (typeof value === 'string' || typeof value === 'number');
    return isLabel ? ([key, value] as const) : undefined;
  });
};

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** Stack and labels of each node. */
class Places {
  readonly #byId = new Map<number, CpuProfileNode>();
  readonly #parents = new Map<number, number>();
  readonly #known = new Map<number, { place: Place; label: number }>();

  readonly #draft: ProfileDraft;

  constructor({ nodes }: Document, draft: ProfileDraft) {
    this.#draft = draft;
    for (const node of nodes) {
      if (this.#byId.has(node.id)) throw notReadable(`two of its nodes have the id ${node.id}`);
      this.#byId.set(node.id, node);
      if (node.parent !== undefined) this.#setParent(node.id, node.parent);
      for (const child of node.children ?? []) this.#setParent(child, node.id);
    }
  }

  #setParent(id: number, parent: number): void {
    const known = this.#parents.get(id);
    if (known !== undefined && known !== parent)
      throw notReadable(`the node ${id} has two callers, ${known} and ${parent}`);
    this.#parents.set(id, parent);
  }

  of(id: number): { readonly place: Place; readonly label: number } {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const stack: Frame[] = [];
    const labels: (readonly [string, string | number])[] = [];
    for (let at: number | undefined = id; at !== undefined; at = this.#parents.get(at)) {
      const node = this.#byId.get(at);
      if (node === undefined) throw notReadable(`a sample refers to the node ${at}, which is not in it`);
      if (stack.length + labels.length > MAX_DEPTH) throw notReadable(`the node ${id} is its own caller, or too deep`);
      const { functionName, url, lineNumber, columnNumber } = node.callFrame;
      const label = labelOf(url);
      if (label !== undefined) labels.unshift(label);
      else if (trampolineIndex(functionName, url) < 0 && this.#parents.has(at)) {
        stack.push({ functionName, url, line: lineNumber + 1, column: columnNumber + 1 });
      }
    }
    const record: LabelRecord = recordFrom(labels);
    const found = { place: this.#draft.place(stack.reverse()), label: this.#draft.labelRow(record) };
    this.#known.set(id, found);
    return found;
  }
}

/** A parsed .cpuprofile. */
export const readCpuProfile = (value: unknown): LabelledProfile => {
  const document = checked(value);
  const { samples, timeDeltas, startTime, endTime, spanline = {} } = document;
  const ownCpuNs = isNumbers(spanline.cpuNs) && spanline.cpuNs.length === samples.length ? spanline.cpuNs : undefined;
  const ownIntervalNs =
    typeof spanline.intervalNs === 'number' && spanline.intervalNs > 0 ? spanline.intervalNs : undefined;
  const intervalNs = ownIntervalNs ?? (median(timeDeltas) * NS_PER_US || DEFAULT_INTERVAL_NS);
  const draft = new ProfileDraft();
  const places = new Places(document, draft);
  let us = 0;
  let latest = 0;
  samples.forEach((id, i) => {
    us += timeDeltas[i];
    // V8 may give samples a microsecond out of order.
    const before = latest;
    latest = Math.max(latest, us);
    const { place, label } = places.of(id);
    // Samples of others come when they can: each stands for the time since the one before, so that all are no more than there was.
    const weightNs = ownCpuNs?.[i] ?? ownIntervalNs ?? (latest - before) * NS_PER_US;
    draft.add(place, label, latest * NS_PER_US, weightNs);
  });
  const { startUnixNs, unit, measure, carrier, threadId } = spanline;
  return draft.finish({
    startNs: startTime * NS_PER_US,
    endNs: Math.max(endTime, startTime) * NS_PER_US,
    startUnixNs: typeof startUnixNs === 'string' && /^\d{1,19}$/.test(startUnixNs) ? BigInt(startUnixNs) : 0n,
    unit: unit === 'cpu' && ownCpuNs !== undefined ? 'cpu' : 'samples',
    ...(typeof measure === 'string' && { measure }),
    intervalNs,
    carrier: carrierOf(carrier),
    threadId: typeof threadId === 'number' ? threadId : 0,
  });
};
