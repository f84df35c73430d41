// The CPU time of a trace's spans over all profiles of a directory, by the ids that samples are labelled with. Each file is read once; of what it
// says only sums by span stay, for a bounded number of files and spans.

import { type LabelledProfile, SampleKind, SPAN_ID_LABEL, TRACE_ID_LABEL } from '@spanline/profile';
import { CpuSum, labelValue } from '@spanline/profile/internal';
import { BoundedCache, getOrMake } from 'spanline/internal/base';
import type { TraceCpu } from './answers.js';
import { contentOf, type ProfileDirectory } from './profile-directory.js';

/** Files looked into, newest first. */
const MAX_FILES = 100;
/** Spans remembered of one file; more make the file be read again each time. */
const MAX_SPANS = 100_000;

type SpanSums = ReadonlyMap<string, CpuSum>;
type FileSums = ReadonlyMap<string, SpanSums>;

const sumsOf = ({ samples, labels }: LabelledProfile): { readonly sums: FileSums; readonly spans: number } => {
  const sums = new Map<string, Map<string, CpuSum>>();
  let spans = 0;
  for (let i = 0; i < samples.count; i++) {
    // A garbage collection is nobody's: its label is whichever happened to be active.
    if (samples.kind[i] === SampleKind.idle || samples.kind[i] === SampleKind.gc) continue;
    const label = labels[samples.label[i]];
    const traceId = labelValue(label, TRACE_ID_LABEL);
    if (traceId === '') continue;
    const bySpan = getOrMake(sums, traceId, () => new Map<string, CpuSum>());
    getOrMake(bySpan, labelValue(label, SPAN_ID_LABEL), () => {
      spans++;
      return new CpuSum();
    }).addSample(samples.cpuNs[i]);
  }
  return { sums, spans };
};

export class CpuOfTraces {
  readonly #files = new BoundedCache<string, FileSums>(2 * MAX_FILES);
  readonly #directory: ProfileDirectory;

  constructor(directory: ProfileDirectory) {
    this.#directory = directory;
  }

  /** Of one trace. A file that holds no profile is counted, not an error: the others still say what they know. */
  async of(traceId: string, signal: AbortSignal): Promise<TraceCpu> {
    const { files, omitted } = await this.#directory.list();
    const spans = new Map<string, { readonly profile: string; readonly sum: CpuSum }>();
    const profiles: TraceCpu['profiles'][number][] = [];
    let skipped = omitted + Math.max(0, files.length - MAX_FILES);
    for (const file of files.slice(0, MAX_FILES)) {
      signal.throwIfAborted();
      const sums = await this.#sums(contentOf(file), file.name);
      if (sums === undefined) {
        skipped++;
        continue;
      }
      const found = sums.get(traceId);
      if (found === undefined) continue;
      let cpuNs = 0;
      for (const [spanId, sum] of found) {
        getOrMake(spans, spanId, () => ({ profile: file.name, sum: new CpuSum() })).sum.add(sum);
        cpuNs += sum.ns;
      }
      profiles.push({ name: file.name, cpuNs });
    }
    const rows = [...spans].map(([spanId, { profile, sum }]) => {
      const { ns: cpuNs, samples, stderrNs } = sum.toCpu();
      return { spanId, profile, samples, cpuNs, stderrNs };
    });
    return { spans: rows.sort((a, b) => b.cpuNs - a.cpuNs), profiles, skipped };
  }

  async #sums(content: string, name: string): Promise<FileSums | undefined> {
    const known = this.#files.get(content);
    if (known !== undefined) return known;
    const profile = await this.#directory.read(name).catch(() => undefined);
    // Other time is not CPU time.
    if (profile === undefined || profile.measure !== undefined) return undefined;
    const { sums, spans } = sumsOf(profile);
    if (spans <= MAX_SPANS) this.#files.set(content, sums);
    return sums;
  }
}
