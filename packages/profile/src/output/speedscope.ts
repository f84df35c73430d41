// A profile for speedscope, whose importers ignore labels: all samples first, then one profile per label. Bounded: the dearest labels
// get one each, the rest one together.

import { getOrMake } from 'spanline/internal/base';
import { frameAt, stackOf } from '../call-tree.js';
import { type LabelledProfile, SampleKind } from '../labelled-profile.js';
import { labelValue, shares } from '../shares.js';
import { frameName, groupedBy, labelRowOf, plainText, WHOLE_LABEL } from './select-labels.js';

export interface SpeedscopeOptions {
  /** Label key to divide by. Default: all labels of a sample together. */
  readonly by?: string;
  /** Labels with a profile of their own. Default 100. */
  readonly maxLabels?: number;
  /** Name of the group of profiles. */
  readonly name?: string;
}

export interface SpeedscopeProfile {
  readonly type: 'sampled';
  readonly name: string;
  readonly unit: 'nanoseconds';
  readonly startValue: 0;
  readonly endValue: number;
  /** Indices of frames, outermost first. */
  readonly samples: readonly (readonly number[])[];
  readonly weights: readonly number[];
}

/** The document of a `.speedscope.json` file. */
export interface SpeedscopeDocument {
  readonly $schema: 'https://www.speedscope.app/file-format-schema.json';
  readonly exporter: string;
  readonly name: string;
  readonly activeProfileIndex: number;
  readonly shared: {
    readonly frames: readonly {
      readonly name: string;
      readonly file?: string;
      readonly line?: number;
      readonly col?: number;
    }[];
  };
  readonly profiles: readonly SpeedscopeProfile[];
}

const DEFAULT_LABELS = 100;
const ALL = 'all labels';

type FrameEntry = SpeedscopeDocument['shared']['frames'][number];

/** Frames as the format has them, each once. */
class SharedFrames {
  readonly frames: FrameEntry[] = [];
  readonly #indices = new Map<string, number>();
  readonly #stacks = new Map<number, readonly number[]>();

  readonly #nodes: LabelledProfile['nodes'];

  constructor(nodes: LabelledProfile['nodes']) {
    this.#nodes = nodes;
  }

  stack(node: number): readonly number[] {
    return getOrMake(this.#stacks, node, () => stackOf(this.#nodes, node).map((row) => this.#index(row)));
  }

  #index(row: number): number {
    const frame = frameAt(this.#nodes, row);
    return getOrMake(this.#indices, JSON.stringify(frame), () => {
      const { url, line, column } = frame;
      const place = { ...(url && { file: url }), ...(line > 0 && { line }), ...(column > 0 && { col: column }) };
      return this.frames.push({ name: frameName(frame), ...place }) - 1;
    });
  }
}

/** Samples of one label; neighbours on one stack are one. */
class LabelProfile {
  readonly #samples: (readonly number[])[] = [];
  readonly #weights: number[] = [];
  #total = 0;

  constructor(readonly name: string) {}

  add(stack: readonly number[], weight: number): void {
    this.#total += weight;
    const last = this.#samples.length - 1;
    if (this.#samples[last] === stack) this.#weights[last] += weight;
    else {
      this.#samples.push(stack);
      this.#weights.push(weight);
    }
  }

  profile(): SpeedscopeProfile {
    const { name } = this;
    const total = this.#total;
    const samples = this.#samples;
    const weights = this.#weights;
    return { type: 'sampled', name, unit: 'nanoseconds', startValue: 0, endValue: total, samples, weights };
  }
}

/**
 * The profile as the document of a speedscope file: all samples, then a profile for every label, dearest first.
 *
 * For https://www.speedscope.app: write it with `JSON.stringify`. Weights are CPU nanoseconds; idle time is left out.
 *
 * @example
 * ```ts
 * import { writeFileSync } from 'node:fs';
 * import { profile, toSpeedscope } from '@spanline/profile';
 * const document = toSpeedscope(await profile({ durationMs: 20 }), { by: 'query' });
 * writeFileSync('app.speedscope.json', JSON.stringify(document));
 * ```
 */
export const toSpeedscope = (
  profile: LabelledProfile,
  { by = WHOLE_LABEL, maxLabels = DEFAULT_LABELS, name = 'spanline' }: SpeedscopeOptions = {},
): SpeedscopeDocument => {
  const [grouped] = groupedBy(by, profile);
  const { samples, labels, nodes } = grouped;
  const values = shares(grouped, by).flatMap(({ value }) => (value === '' ? [] : [value]));
  const profilesByLabel = new Map(
    values.slice(0, maxLabels).map((value) => [value, new LabelProfile(plainText(value))]),
  );
  const rest = new LabelProfile(`${values.length - profilesByLabel.size} other labels`);
  const unlabelled = new LabelProfile('no label');
  const all = new LabelProfile(ALL);
  const frames = new SharedFrames(nodes);
  for (let i = 0; i < samples.count; i++) {
    if (samples.kind[i] === SampleKind.idle) continue;
    const stack = frames.stack(samples.node[i]);
    const value = labelValue(labels[labelRowOf(grouped, i)], by);
    const labelProfile = value === '' ? unlabelled : (profilesByLabel.get(value) ?? rest);
    labelProfile.add(stack, samples.cpuNs[i]);
    all.add(stack, samples.cpuNs[i]);
  }
  const profiles = [all, ...profilesByLabel.values(), rest, unlabelled]
    .map((labelProfile) => labelProfile.profile())
    .filter((each) => each.name === ALL || each.samples.length > 0);
  return {
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    exporter: 'spanline',
    name,
    activeProfileIndex: 0,
    shared: { frames: frames.frames },
    profiles,
  };
};
