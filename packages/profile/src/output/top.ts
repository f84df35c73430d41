// Who used the CPU: one profile by the values of a label key, with how sure each share is. Labels that the samples cannot tell apart
// have one rank.
import { type LabelledProfile, SampleKind } from '../labelled-profile.js';
import { type LabelShare, shares } from '../shares.js';
import { groupedBy, WHOLE_LABEL } from './select-labels.js';

export interface TopOptions {
  /** Label key. Default: all labels of a sample together. */
  readonly by?: string;
  /** Rows at most. Default: all. */
  readonly limit?: number;
}

/** CPU by label. Times in nanoseconds. */
export interface TopTable {
  readonly by: string;
  /** Of all busy samples but garbage collection; shares are of this. */
  readonly cpuNs: number;
  readonly samples: number;
  readonly gcNs: number;
  readonly gcSamples: number;
  readonly idleSamples: number;
  /** Between the first moment and the last. */
  readonly durationNs: number;
  readonly unit: LabelledProfile['unit'];
  /** Of what the times are, where they are not CPU time. */
  readonly measure?: string;
  /** Dearest first; the value '' stands for samples without the key. */
  readonly rows: readonly LabelShare[];
  /** Rows left out by the limit. */
  readonly omitted: number;
}

/**
 * CPU by the values of one label key, dearest first, with 95 % confidence intervals.
 *
 * For the table "CPU by query" that `spanline profile top` prints.
 *
 * @example
 * ```ts
 * import { profile, top } from '@spanline/profile';
 * const { rows } = top(await profile({ durationMs: 20 }), { by: 'query', limit: 10 });
 * console.table(rows);
 * ```
 */
export const top = (profile: LabelledProfile, { by = WHOLE_LABEL, limit }: TopOptions = {}): TopTable => {
  const [grouped] = groupedBy(by, profile);
  const all = shares(grouped, by);
  const rows = all.slice(0, limit);
  const { samples, counts, startNs, endNs, unit, measure } = profile;
  let gcNs = 0;
  for (let i = 0; i < samples.count; i++) if (samples.kind[i] === SampleKind.gc) gcNs += samples.cpuNs[i];
  return {
    by,
    cpuNs: all.reduce((sum, row) => sum + row.cpuNs, 0),
    samples: all.reduce((sum, row) => sum + row.samples, 0),
    gcNs,
    gcSamples: counts.gc,
    idleSamples: counts.idle,
    durationNs: endNs - startNs,
    unit,
    ...(measure !== undefined && { measure }),
    rows,
    omitted: all.length - rows.length,
  };
};
