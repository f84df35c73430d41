// Finds and loads native/sigprof, the reader of the label register. Never throws: without it labels travel on trampolines.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { faultOf } from '../clock/intact.js';

/** What native/sigprof/src/addon.cc exports, for the calling thread. */
export interface Sigprof {
  /**
   * Keep notes of this thread, with what element 0 of `cell` holds; element 1 becomes 1 with each. `capacity` is a power of
   * two. False when refused.
   */
  attach(cell: Int32Array, capacity: number): boolean;
  detach(): void;
  /** Stand before V8's handler. False when the current handler is not V8's. */
  chain(): boolean;
  /** False when a stranger stands before ours by now. */
  unchain(): boolean;
  /** Who handles SIGPROF: '' for nobody, `v8`, `spanline`, or the file of a stranger. */
  handler(): string;
  /** Move notes into rows of four (label, from ns, to ns, thread CPU ns); gives the number of rows. */
  drain(out: Float64Array): number;
  /** Notes that found the ring full since `attach`. */
  refused(): number;
  /** CPU time of the calling thread. */
  threadCpuNs(): number;
}

export interface LoadedSigprof {
  readonly module?: Sigprof;
  readonly reasons: readonly string[];
}

const NAME = 'sigprof.node';
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

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).trim().replace(/\s*\n\s*/g, ' ');

const load = (): LoadedSigprof => {
  if (process.platform !== 'linux') return { reasons: ['V8 samples by SIGPROF on Linux alone'] };
  if ('bun' in process.versions || 'deno' in process.versions) return { reasons: ['the addon is for Node alone'] };
  const reasons: string[] = [];
  try {
    // Undefined in a bundle that became CommonJS.
    const here: string | undefined = import.meta.url;
    const root = here === undefined ? undefined : packageRoot(fileURLToPath(here));
    if (here === undefined || root === undefined) return { reasons: [`${NAME} cannot be found from inside a bundle`] };
    const require = createRequire(here);
    for (const folder of ['native/sigprof/out', `prebuilds/${process.platform}-${process.arch}`]) {
      const file = join(root, folder, NAME);
      if (!existsSync(file)) continue;
      try {
        const fault = faultOf(file);
        if (fault === undefined) return { module: require(file) as Sigprof, reasons };
        reasons.push(`${folder}/${NAME}: ${fault}`);
      } catch (error) {
        reasons.push(`${folder}/${NAME}: ${messageOf(error)}`);
      }
    }
    if (reasons.length === 0) reasons.push(`no ${NAME} for ${process.platform}-${process.arch}`);
  } catch (error) {
    reasons.push(`${NAME}: ${messageOf(error)}`);
  }
  return { reasons };
};

let loaded: LoadedSigprof | undefined;

/** The addon of this thread, loaded at the first call. */
export const loadSigprof = (): LoadedSigprof => {
  loaded ??= load();
  return loaded;
};
