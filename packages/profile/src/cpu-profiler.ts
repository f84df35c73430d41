// V8's own CPU profiler for this thread, through the inspector in the process, and its samples as columns: node, time and kind, and the call tree
// without the frames of labels. One session each, so that DevTools and others can profile beside it. Knows nothing of labels but which frames are
// theirs.

import { CallTree, kindOf } from './call-tree.js';
import { type ProfileNodes, SampleKind } from './labelled-profile.js';
import { type IsOwnFrame, ownFrames } from './own-frames.js';
import { ProfileError } from './profile-error.js';
import { V8_AHEAD_US } from './sample-clock.js';
import { trampolineIndex } from './trampoline-pool.js';

/** A profile as the inspector gives it. */
export interface RawProfile {
  readonly nodes: readonly RawNode[];
  /** Microseconds of V8's clock. */
  readonly startTime: number;
  readonly endTime: number;
  /** Node id of each sample. */
  readonly samples: readonly number[];
  /** Microseconds since the sample before; since `startTime` for the first. */
  readonly timeDeltas: readonly number[];
}

interface RawNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
    readonly columnNumber: number;
  };
  readonly children?: readonly number[];
}

/** What is used of `node:inspector`'s Session. */
interface InspectorSession {
  connect(): void;
  disconnect(): void;
  post(method: string, params: object, done: (error: Error | null, result?: unknown) => void): void;
}

export class CpuProfiler {
  readonly #session: InspectorSession;

  private constructor(session: InspectorSession) {
    this.#session = session;
  }

  /** Loads the inspector at the first call only: to carry labels takes none. */
  static async open(): Promise<CpuProfiler> {
    try {
      const { Session } = await import('node:inspector');
      const session = new Session() as InspectorSession;
      session.connect();
      return new CpuProfiler(session);
    } catch (error) {
      throw new ProfileError(
        'ERR_SPANLINE_PROFILE_INSPECTOR',
        'V8 cannot be profiled: this Node has no inspector; use a Node built with it',
        { cause: error },
      );
    }
  }

  /** From now on V8 samples this thread. */
  start(intervalUs: number): void {
    this.#post('Profiler.enable');
    this.#post('Profiler.setSamplingInterval', { interval: intervalUs });
    this.#post('Profiler.start');
  }

  stop(): RawProfile {
    const { profile } = this.#post('Profiler.stop') as { profile: RawProfile };
    this.#post('Profiler.disable');
    return profile;
  }

  close(): void {
    this.#session.disconnect();
  }

  // A session of this very thread answers before post() returns.
  #post(method: string, params: object = {}): unknown {
    let answer: unknown;
    let failure: Error | null = null;
    this.#session.post(method, params, (error, result) => {
      failure = error;
      answer = result;
    });
    if (failure === null) return answer;
    throw new ProfileError(
      'ERR_SPANLINE_PROFILE_INSPECTOR',
      `the inspector refused ${method}: ${(failure as Error).message}`,
      { cause: failure },
    );
  }
}

const NO_FRAMES: readonly number[] = [];

/** V8's node in the tree that is given out. */
interface Place {
  readonly row: number;
  readonly kind: number;
  /** Trampolines on the stack, outermost first. */
  readonly trampolines: readonly number[];
}

export interface RawSamples {
  readonly count: number;
  readonly startUs: number;
  readonly endUs: number;
  /** Microsecond of each sample on CLOCK_MONOTONIC, rounded down; never falling. */
  readonly us: Float64Array;
  readonly node: Uint32Array;
  readonly kind: Uint8Array;
  /** Trampolines on the stack of sample `i`, outermost first. */
  trampolines(i: number): readonly number[];
  readonly nodes: ProfileNodes;
}

const placeOf = ({ callFrame }: RawNode, above: Place, tree: CallTree, isOwnFrame: IsOwnFrame): Place => {
  const { functionName, url, lineNumber, columnNumber } = callFrame;
  const trampoline = trampolineIndex(functionName, url);
  if (trampoline >= 0) return { ...above, kind: SampleKind.js, trampolines: [...above.trampolines, trampoline] };
  if (isOwnFrame(url, lineNumber, columnNumber)) return { ...above, kind: SampleKind.js };
  const frame = { functionName, url, line: lineNumber + 1, column: columnNumber + 1 };
  return { row: tree.row(above.row, frame), kind: kindOf(frame), trampolines: above.trampolines };
};

const AT_ROOT: Place = { row: 0, kind: SampleKind.program, trampolines: NO_FRAMES };

// V8 names children by id; the root is whoever is not a child.
const placesOf = (raw: RawProfile, tree: CallTree): Map<number, Place> => {
  const byId = new Map(raw.nodes.map((node) => [node.id, node]));
  const children = new Set(raw.nodes.flatMap((node) => node.children ?? []));
  const places = new Map<number, Place>();
  const isOwnFrame = ownFrames();
  const open: { node: RawNode; above: Place | undefined }[] = raw.nodes
    .filter((node) => !children.has(node.id))
    .map((node) => ({ node, above: undefined }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, above } = next;
    const place = above === undefined ? AT_ROOT : placeOf(node, above, tree, isOwnFrame);
    places.set(node.id, place);
    for (const id of node.children ?? []) {
      const child = byId.get(id);
      if (child !== undefined) open.push({ node: child, above: place });
    }
  }
  return places;
};

/** These rows of them, in order. */
export const selected = (samples: RawSamples, rows: readonly number[]): RawSamples => ({
  ...samples,
  count: rows.length,
  us: Float64Array.from(rows, (row) => samples.us[row]),
  node: Uint32Array.from(rows, (row) => samples.node[row]),
  kind: Uint8Array.from(rows, (row) => samples.kind[row]),
  trampolines: (i) => samples.trampolines(rows[i]),
});

export const rawSamples = (raw: RawProfile): RawSamples => {
  const tree = new CallTree();
  const places = placesOf(raw, tree);
  const count = raw.samples.length;
  const us = new Float64Array(count);
  const node = new Uint32Array(count);
  const kind = new Uint8Array(count);
  const startUs = raw.startTime - V8_AHEAD_US;
  let at = startUs;
  let latest = startUs;
  for (let i = 0; i < count; i++) {
    at += raw.timeDeltas[i];
    // Samples that V8 takes of itself may come a microsecond out of order.
    latest = Math.max(latest, at);
    us[i] = latest;
    const place = places.get(raw.samples[i]);
    node[i] = place?.row ?? 0;
    kind[i] = place?.kind ?? SampleKind.program;
  }
  return {
    count,
    startUs,
    endUs: Math.max(latest, raw.endTime - V8_AHEAD_US),
    us,
    node,
    kind,
    trampolines: (i) => places.get(raw.samples[i])?.trampolines ?? NO_FRAMES,
    nodes: tree.nodes(),
  };
};
