// Looks at the dynamic symbols of an addon for Linux: one that asks for no library, for no version of a symbol, and for nothing that only one libc
// has, loads on any glibc and on musl. Reads by binutils' readelf; must never load the file.
import { spawnSync } from 'node:child_process';

/** What glibc and musl both answer, in all versions that Node runs on. */
const LIBC = new Set(
  `__cxa_atexit __cxa_finalize __errno_location __tls_get_addr abort clock_gettime close dladdr free gmtime_r malloc memcmp memcpy memmove memset mmap
  munmap open posix_fallocate pthread_create pthread_equal pthread_join pthread_mutex_lock pthread_mutex_unlock pthread_self rename sched_getaffinity
  sched_setaffinity sigaction snprintf strlen unlink write`.split(/\s+/),
);
const NODE = /^(napi_|node_|uv_|_ZNK?(2v8|4node))/;

/**
 * What each undefined symbol is, from `readelf --dyn-syms`: Num, Value, Size, Type, Bind, Vis, Ndx, Name.
 * @param {string} output
 */
const undefinedSymbols = (output) =>
  [...output.matchAll(/^ *\d+: +\S+ +\d+ +\S+ +(\S+) +\S+ +UND +(\S+)/gm)].map(([, bind, name]) => ({ bind, name }));

/**
 * The names that the file wants from whoever loads it; weak ones may be missing.
 * @param {string} file
 */
export function wantedSymbols(file) {
  const { status, stdout, stderr, error } = spawnSync('readelf', ['-dVW', '--dyn-syms', file], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`readelf ${file} failed (Debian: binutils): ${error?.message ?? stderr}`);
  return { symbols: undefinedSymbols(stdout).filter(({ bind }) => bind !== 'WEAK'), output: stdout };
}

/**
 * Why this addon would not load everywhere; empty when it does.
 * @param {string} file
 */
export function faultsOfAddon(file) {
  const { symbols, output } = wantedSymbols(file);
  const libraries = [...output.matchAll(/\(NEEDED\).*\[(.*)\]/g)].map(([, name]) => `asks for the library ${name}`);
  const versions = /Version needs section/.test(output) ? ['asks for versions of symbols'] : [];
  const unknown = symbols
    .filter(({ name }) => !LIBC.has(name) && !NODE.test(name))
    .map(({ name }) => `wants ${name}, which not every libc has`);
  return [...libraries, ...versions, ...unknown];
}
