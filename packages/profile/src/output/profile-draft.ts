// A profile under construction by a reader: samples in any order of labels, at most as many as a reader may hold.

import { CallTree, type Frame, kindOf, ROOT_FRAME } from '../call-tree.js';
import { countSamples, type LabelledProfile, type LabelRecord, LabelRows, SampleKind } from '../labelled-profile.js';
import { ProfileOutputError } from '../profile-error.js';

/** More samples than this are not read: an hour at two thousand a second, some 200 MB. */
export const MAX_SAMPLES = 8_000_000;
/** Deeper stacks than V8's samples ever are; more is a damaged file. */
export const MAX_DEPTH = 4096;

type ProfileFacts = Pick<
  LabelledProfile,
  'startNs' | 'endNs' | 'startUnixNs' | 'unit' | 'measure' | 'intervalNs' | 'carrier' | 'threadId'
>;

export class ProfileDraft {
  readonly #tree = new CallTree();
  readonly #labels = new LabelRows();
  readonly #node: number[] = [];
  readonly #kind: number[] = [];
  readonly #label: number[] = [];
  readonly #atNs: number[] = [];
  readonly #cpuNs: number[] = [];

  get count(): number {
    return this.#node.length;
  }

  /** The place of a stack, outermost frame first. */
  place(stack: readonly Frame[]): Place {
    if (stack.length > MAX_DEPTH) throw tooDeep();
    const node = stack.reduce(
      (parent, frame) => (parent === 0 && frame.functionName === '(root)' ? 0 : this.#tree.row(parent, frame)),
      0,
    );
    return { node, kind: kindOf(stack.at(-1) ?? ROOT_FRAME) };
  }

  labelRow(record: LabelRecord): number {
    return this.#labels.rowOf(record);
  }

  /** `times` equal samples. */
  add({ node, kind }: Place, label: number, atNs: number, cpuNs: number, times = 1): void {
    if (this.count + times > MAX_SAMPLES) throw tooMuch('more samples', MAX_SAMPLES);
    for (let i = 0; i < times; i++) {
      this.#node.push(node);
      this.#kind.push(kind);
      this.#label.push(label);
      this.#atNs.push(atNs);
      this.#cpuNs.push(kind === SampleKind.idle ? 0 : cpuNs);
    }
  }

  finish(facts: ProfileFacts): LabelledProfile {
    const samples = {
      count: this.count,
      node: Uint32Array.from(this.#node),
      atNs: Float64Array.from(this.#atNs),
      cpuNs: Float64Array.from(this.#cpuNs),
      label: Uint32Array.from(this.#label),
      kind: Uint8Array.from(this.#kind),
    };
    return {
      ...facts,
      nodes: this.#tree.nodes(),
      samples,
      labels: this.#labels.labels,
      counts: countSamples(samples),
    };
  }

  /** As {@link finish}, for formats that do not tell when a sample was taken: spread evenly. */
  finishUntimed(facts: ProfileFacts): LabelledProfile {
    const stepNs = (facts.endNs - facts.startNs) / Math.max(1, this.count);
    for (let i = 0; i < this.count; i++) this.#atNs[i] = i * stepNs;
    return this.finish(facts);
  }
}

/** Where a sample was: the row of its innermost frame, and what the thread did. */
export interface Place {
  readonly node: number;
  readonly kind: number;
}

const tooMuch = (what: string, max: number): ProfileOutputError =>
  new ProfileOutputError('ERR_SPANLINE_PROFILE_FILE', `the profile has ${what} than the ${max} that are read`);

/** The error of a stack that no program has. */
export const tooDeep = (): ProfileOutputError => tooMuch('a stack of more frames', MAX_DEPTH);

/** The error of a file that is not what it should be. */
export const notReadable = (why: string, cause?: unknown): ProfileOutputError =>
  new ProfileOutputError('ERR_SPANLINE_PROFILE_FILE', `the profile cannot be read: ${why}`, { cause });
