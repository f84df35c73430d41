// A directory of profiles that processes may still write to: lists it and reads its files. A name in a request must never reach a file that the
// listing would not show, and what is kept in memory is bounded.
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { HttpError } from '@spanline/archive/internal';
import { type LabelledProfile, ProfileOutputError } from '@spanline/profile';
import { readProfileStream } from '@spanline/profile/internal';
import { BoundedCache } from 'spanline/internal/base';
import type { ProfileFile, ProfileList } from './answers.js';

/** Files that the page lists. */
export const MAX_FILES = 500;
/** Profiles in memory: the two of a difference, and those before. One of an hour takes some 100 MB. */
const MAX_PROFILES = 4;

/** What `spanline profile` writes and can be read again; a leading dot is a file half written. */
const NAME = /^[^./\\][^/\\]*\.(pb\.gz|pprof|cpuprofile|folded)$/;

/** Tells one content of a file from the next. */
export const contentOf = ({ name, bytes, writtenMs }: ProfileFile): string => `${bytes} ${writtenMs} ${name}`;

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
    const key = contentOf(file);
    const known = this.#profiles.get(key);
    if (known !== undefined) return known;
    const reading = this.#open(name);
    this.#profiles.set(key, reading);
    return reading;
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
