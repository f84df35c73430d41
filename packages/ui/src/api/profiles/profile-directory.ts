// A directory of profiles that processes may still write to: lists it, reads its files, and sums up the CPU time of a trace's spans over all of them,
// by the ids that samples are labelled with. A name in a request must never reach a file that the listing would not show, and what is kept in memory
// is bounded: some profiles, and of a bounded number of files the sums by span.
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { HttpError } from '@spanline/archive/internal';
import { type LabelledProfile, ProfileOutputError, SampleKind, SPAN_ID_LABEL, TRACE_ID_LABEL } from '@spanline/profile';
import { CpuSum, labelValue, readProfileStream } from '@spanline/profile/internal';
import { BoundedCache, getOrMake } from 'spanline/internal/base';
import type { ProfileFile, ProfileList, TraceCpu } from './answers.js';

/** Files that the page lists. */
const MAX_FILES = 500;
/** Profiles in memory: the two of a difference, and those before. One of an hour takes some 100 MB. */
const MAX_PROFILES = 4;

/** What `spanline profile` writes and can be read again; a leading dot is a file half written. */
const NAME = /^[^./\\][^/\\]*\.(pb\.gz|pprof|cpuprofile|folded)$/;

/** Tells one content of a file from the next. */
const contentOf = ({ name, bytes, writtenMs }: ProfileFile): string => `${bytes} ${writtenMs} ${name}`;

export class ProfileDirectory {
  readonly #profiles = new BoundedCache<string, Promise<LabelledProfile>>(MAX_PROFILES);

  constructor(readonly path: string) {}

  /** Its profiles, newest first. */
  async list(): Promise<ProfileList> {
    const names = (await readdir(this.path)).filter((name) => NAME.test(name));
    const found = (await Promise.all(names.map((name) => this.#look(name)))).filter((file) => file !== undefined);
    found.sort((a, b) => b.writtenMs - a.writtenMs || (a.name < b.name ? 1 : -1));
    return { files: found.slice(0, MAX_FILES), omitted: Math.max(0, found.length - MAX_FILES) };
  }

  /** The profile in a file. `HttpError` of 404 when there is none of that name, of 400 when it holds no profile. */
  async read(name: string): Promise<LabelledProfile> {
    const file = NAME.test(name) ? await this.#look(name) : undefined;
    if (file === undefined) throw new HttpError(404, `there is no profile ${JSON.stringify(name)}; it may be deleted`);
    return getOrMake(this.#profiles, contentOf(file), () => this.#open(name));
  }

  async #open(name: string): Promise<LabelledProfile> {
    try {
      return await readProfileStream(createReadStream(join(this.path, name)), name);
    } catch (error) {
      if (error instanceof ProfileOutputError) throw error;
      throw new HttpError(400, `${name} cannot be read: ${(error as Error).message}`);
    }
  }

  /** Undefined when it is not a file, or gone: who writes a directory removes old files too. */
  async #look(name: string): Promise<ProfileFile | undefined> {
    const found = await stat(join(this.path, name)).catch(() => undefined);
    if (found === undefined || !found.isFile()) return undefined;
    return { name, bytes: found.size, writtenMs: Math.round(found.mtimeMs) };
  }
}

/** Files looked into, newest first. */
const MAX_FILES_READ = 100;
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
  readonly #files = new BoundedCache<string, FileSums>(2 * MAX_FILES_READ);
  readonly #directory: ProfileDirectory;

  constructor(directory: ProfileDirectory) {
    this.#directory = directory;
  }

  /** Of one trace. A file that holds no profile is counted, not an error: the others still say what they know. */
  async of(traceId: string, signal: AbortSignal): Promise<TraceCpu> {
    const { files, omitted } = await this.#directory.list();
    const spans = new Map<string, { readonly profile: string; readonly sum: CpuSum }>();
    const profiles: TraceCpu['profiles'][number][] = [];
    let skipped = omitted + Math.max(0, files.length - MAX_FILES_READ);
    for (const file of files.slice(0, MAX_FILES_READ)) {
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
