// Native code that reads the current frame as the Map that Node makes of it, and finds nothing in ours: a profiler that labels its
// samples in a signal handler. Found by the modules that are loaded; nothing is loaded here.
import { createRequire } from 'node:module';

/** Packages known to do so, as part of a path. */
const READERS: readonly string[] = ['@datadog/pprof'];

let modules: Readonly<Record<string, unknown>> | undefined;

// One list of modules a thread, for all callers.
const loadedModules = (): Readonly<Record<string, unknown>> => {
  modules ??= createRequire(process.execPath).cache;
  return modules;
};

/** The package loaded in this thread that reads frames; undefined where none does. */
export const frameReader = (): string | undefined => {
  const paths = Object.keys(loadedModules());
  return READERS.find((name) => paths.some((path) => path.replaceAll('\\', '/').includes(`/node_modules/${name}/`)));
};
