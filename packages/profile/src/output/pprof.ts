// toPprof: the public way to pprof. Nothing in it may name the types of the package that encodes, which users need not have.
import type { LabelledProfile } from '../labelled-profile.js';
import { encodePprof } from './encode-pprof.js';
import type { PprofOptions } from './pprof-options.js';

/**
 * The profile as gzipped pprof: sample types `samples/count` and `cpu/nanoseconds`, labels of samples as labels.
 *
 * For `go tool pprof` (`-tags`, `-tagfocus`, `-tagroot`), Pyroscope, Parca and the like. Idle samples are left out; garbage collection
 * bears no label.
 *
 * @example
 * ```ts
 * import { writeFileSync } from 'node:fs';
 * import { profile, toPprof } from '@spanline/profile';
 * writeFileSync('cpu.pb.gz', await toPprof(await profile({ durationMs: 20 })));
 * ```
 */
export const toPprof = async (profile: LabelledProfile, options: PprofOptions = {}): Promise<Uint8Array> =>
  encodePprof(await import('pprof-format'), profile, options);
