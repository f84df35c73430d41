// Finds and loads the two native files: the Node-API addon (any Node) and the fast-call wrapper (one Node ABI). Never
// throws: what cannot be loaded is a reason to use the next way.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Numbers of the sources, as the addon has them. */
export const SOURCE_NUMBER = { monotonic: 0, tsc: 1, 'tsc-percpu': 2, cntvct: 3 } as const;

/** What native/tsc/src/addon.cc exports. Ticks are counted from the process anchor. */
export interface NativeClock {
  now(): number;
  nowAddress(): bigint;
  features(): { readonly invariantTsc: boolean; readonly rdtscp: boolean; readonly cntvctHz: number };
  claimSource(source: number): number;
  /** cpu, ticks, CLOCK_MONOTONIC in ns, bracket in ticks. */
  pair(): number[];
  /** The same four for each CPU this process may run on. */
  pairPerCpu(): number[];
  setCpuOffset(cpu: number, ticks: number, known: boolean): void;
  setFallbackLine(monoNs: number, ticks: number, nsPerTick: number): void;
  degrade(): void;
  injectOffset(cpu: number, ticks: number): void;
  unknownCpuReadings(): number;
  /** ticks, unix seconds, nanoseconds within the second. */
  anchor(): number[];
}

/** What native/tsc/src/fast_call.cc exports. */
export interface FastCall {
  wrap(address: bigint): () => number;
  slowCalls(): number;
}

const MAX_LEVELS = 8;

// The folder of this package, whether this file runs from src, from dist or from a bundle that lies elsewhere.
const packageRoot = (from: string): string | undefined => {
  let dir = dirname(from);
  for (let level = 0; level < MAX_LEVELS; level++) {
    const manifest = join(dir, 'package.json');
    if (existsSync(manifest) && readFileSync(manifest, 'utf8').includes('"name": "spanline"')) return dir;
    dir = dirname(dir);
  }
  return undefined;
};

const load = (names: readonly string[]): unknown => {
  try {
    const here = import.meta.url;
    const root = packageRoot(fileURLToPath(here));
    if (root === undefined) return undefined;
    const folders = [join(root, 'native/tsc/out'), join(root, `prebuilds/${process.platform}-${process.arch}`)];
    const require = createRequire(here);
    for (const folder of folders) {
      for (const name of names) {
        const file = join(folder, name);
        if (existsSync(file)) return require(file);
      }
    }
  } catch {
    // A bundle without import.meta.url, a file of another libc or ABI: the pure JavaScript clock serves.
  }
  return undefined;
};

export const loadNative = (): NativeClock | undefined => load(['tsc.node']) as NativeClock | undefined;

/** Only a file made and self-tested for exactly this ABI. */
export const loadFastCall = (): FastCall | undefined =>
  load([`tsc-fast-${process.versions.modules}.node`]) as FastCall | undefined;
