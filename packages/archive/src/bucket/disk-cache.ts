// What of a bucket is kept on this machine's disk: objects that never change, and the newest catalogue with its version. It is a store that asks the
// one behind it less. What is kept is checked by its digest, and bounded; a cache that cannot be read or written must cost time and nothing else.

import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { makeDirectory, timers } from 'spanline/internal/base';
import { CATALOGUE_KEY } from './keys.js';
import { type ObjectStore, type ObjectStoreOptions, S3ObjectStore, type StoreCall } from './object-store.js';

/** Beginnings of keys of objects that never change. */
const IMMUTABLE = /^(?:generations|cards|heads|folded)\//;
/** Its time is that of the last look. */
const PRUNED = 'pruned';
const FILE = /^[0-9a-f]{32}$/;
/** Bytes written between two looks at what is too much. */
const PRUNE_BYTES = 8 * 1024 * 1024;
/** What is used again is as new as now, if it was older than this. */
const TOUCH_MS = 3_600_000;

const digest = (bytes: string | Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** Where the cache of an archive is unless a directory is given. */
export const cacheDirectoryOf = (place: string): string =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'spanline', digest(place).toString('hex').slice(0, 16));

/** Files of one directory. */
export class DiskCache {
  readonly #maxBytes: number;
  #written = 0;
  #hasLooked = false;

  constructor(
    readonly directory: string,
    maxBytes: number,
  ) {
    this.#maxBytes = maxBytes;
  }

  async read(key: string): Promise<Buffer | undefined> {
    const path = this.#path(key);
    try {
      const bytes = await readFile(path);
      const content = bytes.subarray(32);
      if (!digest(content).equals(bytes.subarray(0, 32))) {
        await rm(path, { force: true });
        return undefined;
      }
      const now = timers.wallMs();
      if (now - (await stat(path)).mtimeMs > TOUCH_MS) await utimes(path, now / 1000, now / 1000);
      return content;
    } catch {
      return undefined;
    }
  }

  async write(key: string, content: Uint8Array): Promise<void> {
    if (content.length > this.#maxBytes / 2) return;
    const path = this.#path(key);
    const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
    try {
      makeDirectory(this.directory);
      await writeFile(temporary, Buffer.concat([digest(content), content]));
      await rename(temporary, path);
      this.#written += content.length;
      if (this.#written < PRUNE_BYTES && !(await this.#isFirst())) return;
      this.#written = 0;
      await this.#prune();
    } catch {
      await rm(temporary, { force: true }).catch(() => {});
    }
  }

  /** Whether this process has not looked yet, and no other did within the hour: most write little, and there may be many of them. */
  async #isFirst(): Promise<boolean> {
    if (this.#hasLooked) return false;
    this.#hasLooked = true;
    const path = join(this.directory, PRUNED);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && Math.abs(timers.wallMs() - found.mtimeMs) < TOUCH_MS) return false;
    await writeFile(path, '');
    return true;
  }

  #path(key: string): string {
    return join(this.directory, digest(key).toString('hex').slice(0, 32));
  }

  /** The files used longest ago go first. */
  async #prune(): Promise<void> {
    const files: { readonly path: string; readonly bytes: number; readonly usedMs: number }[] = [];
    for (const name of await readdir(this.directory)) {
      const path = join(this.directory, name);
      const found = await stat(path).catch(() => undefined);
      if (found === undefined) continue;
      if (FILE.test(name)) files.push({ path, bytes: found.size, usedMs: found.mtimeMs });
      else if (name !== PRUNED && timers.wallMs() - found.mtimeMs > TOUCH_MS) await rm(path, { force: true });
    }
    files.sort((a, b) => b.usedMs - a.usedMs);
    let bytes = 0;
    for (const file of files) {
      bytes += file.bytes;
      if (bytes > this.#maxBytes) await rm(file.path, { force: true });
    }
  }
}

/** A store of which immutable objects are read once, and the catalogue only when it is another one. */
export class CachedStore extends S3ObjectStore {
  readonly #cache: DiskCache;

  constructor(location: string, options: ObjectStoreOptions | undefined, cache: DiskCache) {
    super(location, options);
    this.#cache = cache;
  }

  override async get(
    key: string,
    options: StoreCall & { readonly ifNoneMatch?: string | undefined } = {},
  ): ReturnType<ObjectStore['get']> {
    if (options.ifNoneMatch !== undefined) return super.get(key, options);
    if (key === CATALOGUE_KEY) return this.#catalogue(options);
    if (!IMMUTABLE.test(key)) return super.get(key, options);
    const kept = await this.#cache.read(key);
    // Who reads what never changes has no use for its version.
    if (kept !== undefined) return { bytes: kept, etag: '' };
    const found = await super.get(key, options);
    if (found !== undefined && found !== 'unchanged') await this.#cache.write(key, found.bytes);
    return found;
  }

  async #catalogue(options: StoreCall): ReturnType<ObjectStore['get']> {
    const kept = await this.#cache.read(CATALOGUE_KEY);
    const end = kept?.indexOf('\n') ?? -1;
    const known =
      kept === undefined || end < 0
        ? undefined
        : { etag: kept.toString('utf8', 0, end), bytes: kept.subarray(end + 1) };
    const found = await super.get(CATALOGUE_KEY, { ...options, ifNoneMatch: known?.etag });
    if (found === 'unchanged') return known;
    if (found !== undefined && found.etag !== '')
      await this.#cache.write(CATALOGUE_KEY, Buffer.concat([Buffer.from(`${found.etag}\n`), found.bytes]));
    return found;
  }
}
