// The CPU profile of the queries: taken while they run, given to their spans on the way out, written to a file that tools open.
import { writeFile } from 'node:fs/promises';
import { CpuReporter, openSourceMaps, resolveSources, startProfile, toPprof } from '@spanline/profile';
import type { Reporter } from 'spanline';

const EVERY_MS = 0.5;

/** What was sampled, and how labels reached the samples. */
export interface Sampled {
  readonly samples: number;
  readonly carrier: string;
}

/** Each reporter behind one that gives spans their CPU time. */
export const withCpuTime = (reporters: readonly Reporter[]): CpuReporter[] =>
  reporters.map((reporter) => new CpuReporter(reporter));

/** Profile `work`, give the profile to the reporters, and write it to `file` with frames as they are in the sources. */
export const profileWork = async (
  work: () => Promise<unknown>,
  reporters: readonly CpuReporter[],
  file: string,
): Promise<Sampled> => {
  const running = await startProfile({ everyMs: EVERY_MS });
  await work();
  const profile = running.stop();
  for (const reporter of reporters) reporter.add(profile);
  await writeFile(file, await toPprof(resolveSources(profile, await openSourceMaps()), { program: 'demo' }));
  return { samples: profile.counts.total, carrier: profile.carrier };
};
