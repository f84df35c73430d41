// Finds and loads the two native files: the Node-API addon (any Node) and the fast-call wrapper (one Node ABI). Never
// throws: what cannot be loaded is a reason to use the next way.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { faultOf } from './intact.js';

/** Numbers of the sources, as the addon has them. */
export const SOURCE_NUMBER = { monotonic: 0, tsc: 1, 'tsc-percpu': 2, cntvct: 3 } as const;

/** What native/tsc/src/addon.cc exports. Ticks and CLOCK_MONOTONIC are counted from the process anchor. */
export interface NativeClock {
  now(): number;
  nowAddress(): bigint;
  features(): { readonly invariantTsc: boolean; readonly rdtscp: boolean; readonly cntvctHz: number };
  /** Takes the source for the process unless it has one; gives the one in force. */
  claimSource(source: number): number;
  /** cpu, ticks of the clock, CLOCK_MONOTONIC in ns, bracket in ticks. */
  pair(): number[];
  /** The same four for each CPU this thread may run on, in ticks of the core's own counter. */
  pairPerCpu(): number[];
  /** Puts offsets (cpu, ticks, error for each core) and the line of the first core in force, for all threads. */
  publish(cores: readonly number[], monoNs: number, ticks: number, nsPerTick: number): void;
  /** CLOCK_MONOTONIC of the last publish by any thread; -1 before. */
  publishedAt(): number;
  /** cpu, offset, error (in ticks) for each core in force. */
  cpuOffsets(): number[];
  /** CLOCK_MONOTONIC for the process, unless a thread has published. Gives the source in force. */
  giveUpTsc(): number;
  injectOffset(cpu: number, ticks: number): void;
  unknownCpuReadings(): number;
  /** ticks, unix seconds, nanoseconds within the second. */
  anchor(): number[];
}

/** What native/tsc/src/fast_call.cc exports. */
export interface FastCall {
  /** Undefined when this file serves another clock already. */
  wrap(address: bigint): (() => number) | undefined;
  slowCalls(): number;
}

/** A file that was loaded, and why others were not. */
export interface Loaded<T> {
  readonly module?: T;
  readonly reasons: readonly string[];
}

const MAX_LEVELS = 8;

// The folder of this package, whether this file runs from src, from dist or from a bundle inside it.
const packageRoot = (from: string): string | undefined => {
  let dir = dirname(from);
  for (let level = 0; level < MAX_LEVELS; level++) {
    const manifest = join(dir, 'package.json');
    if (existsSync(manifest) && readFileSync(manifest, 'utf8').includes('"name": "spanline"')) return dir;
    dir = dirname(dir);
  }
  return undefined;
};

// On one line: the loader's messages have several.
const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).trim().replace(/\s*\n\s*/g, ' ');

const load = <T>(name: string): Loaded<T> => {
  const reasons: string[] = [];
  try {
    // Undefined in a bundle that became CommonJS.
    const here: string | undefined = import.meta.url;
    const root = here === undefined ? undefined : packageRoot(fileURLToPath(here));
    if (here === undefined || root === undefined) return { reasons: [`${name} cannot be found from inside a bundle`] };
    const require = createRequire(here);
    // The one built here first; one that does not load (another libc or ABI, a damaged file) leaves the next.
    for (const folder of ['native/tsc/out', `prebuilds/${process.platform}-${process.arch}`]) {
      const file = join(root, folder, name);
      if (!existsSync(file)) continue;
      try {
        const fault = faultOf(file);
        if (fault === undefined) return { module: require(file) as T, reasons };
        reasons.push(`${folder}/${name}: ${fault}`);
      } catch (error) {
        reasons.push(`${folder}/${name}: ${messageOf(error)}`);
      }
    }
    if (reasons.length === 0) reasons.push(`no ${name} for ${process.platform}-${process.arch}`);
  } catch (error) {
    reasons.push(`${name}: ${messageOf(error)}`);
  }
  return { reasons };
};

export const loadNative = (): Loaded<NativeClock> => load('tsc.node');

/** Only a file made and self-tested for exactly this ABI. Other programs that say they have it, have not this V8. */
export const loadFastCall = (): Loaded<FastCall> =>
  'bun' in process.versions || 'deno' in process.versions
    ? { reasons: ['the fast call is for Node alone'] }
    : load(`tsc-fast-${process.versions.modules}.node`);
