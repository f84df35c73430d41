// Finds and loads the addon native/sigprof of this package, the reader of the label register. Never throws: without it labels travel on trampolines.
import { type Loaded, loadNativeFile } from 'spanline/internal/rows';

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

const load = (): Loaded<Sigprof> => {
  if (process.platform !== 'linux') return { reasons: ['V8 samples by SIGPROF on Linux alone'] };
  if ('bun' in process.versions || 'deno' in process.versions) return { reasons: ['the addon is for Node alone'] };
  return loadNativeFile('native/sigprof/out', 'sigprof.node', import.meta.url, '@spanline/profile');
};

let loaded: Loaded<Sigprof> | undefined;

/** The addon of this thread, loaded at the first call. */
export const loadSigprof = (): Loaded<Sigprof> => {
  loaded ??= load();
  return loaded;
};
