// Reads a profile back from any of the formats, told apart by the bytes and never by a file's name, out of bytes or a stream. It must not take more
// memory than a profile may have, however long the stream is.
import type { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { attempt, orThrow } from 'spanline/internal/base';
import type { LabelledProfile } from '../labelled-profile.js';
import { ProfileOutputError, wrongOutputOption } from '../profile-error.js';
import { readCpuProfile } from './cpuprofile.js';
import { readFolded } from './folded.js';
import { type ReadProfileOptions, readPprof } from './pprof.js';
import { notReadable } from './profile-draft.js';

/** A file that has more, or unfolds to more, is not read: V8 holds no text of 512 MiB. */
const MAX_BYTES = 500 << 20;

const GZIP = [0x1f, 0x8b];
const OPEN_BRACE = 0x7b;
/** Byte order mark, tab, line feed, carriage return, space: what JSON may begin with. */
const BLANK: ReadonlySet<number> = new Set([0xef, 0xbb, 0xbf, 0x09, 0x0a, 0x0d, 0x20]);

const unzipped = (bytes: Uint8Array): Uint8Array => {
  if (bytes[0] !== GZIP[0] || bytes[1] !== GZIP[1]) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_BYTES });
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw notReadable(isTooLarge ? `it unfolds to more than ${MAX_BYTES} bytes` : 'its gzip is damaged', error);
  }
};

const parsed = (text: string): unknown =>
  orThrow(
    () => JSON.parse(text),
    (error) => notReadable('it begins as JSON and is not', error),
  );

const LAST_LINE_OF_STACKS = / \d+\r?\n?$/;

const asText = (bytes: Uint8Array): string | undefined =>
  attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes));

const onlyPprof = ({ sampleType }: ReadProfileOptions): void => {
  if (sampleType !== undefined) throw wrongOutputOption('sampleType is of pprof files; this one has one kind of value');
};

/**
 * Read a profile from the bytes of a file: pprof (gzipped or not), `.cpuprofile`, or folded stacks.
 *
 * For `shares()`, `top()`, `diff()` and the writers. pprof and folded stacks do not tell when a sample was taken: there `atNs` is spread
 * evenly. Of a pprof file with several types of values the CPU time is read, or what `sampleType` names; where it is other time, such as
 * that of a wall clock, `measure` says so, and a file of heap memory is refused. Throws
 * `ERR_SPANLINE_PROFILE_FILE`, and `ERR_SPANLINE_PROFILE_OPTION` for a `sampleType` that the file does not have.
 *
 * @example
 * ```ts
 * import { profile, readProfile, toPprof } from '@spanline/profile';
 * const again = await readProfile(await toPprof(await profile({ durationMs: 20 })));
 * console.assert(again.counts.idle === 0);
 * ```
 */
export const readProfile = async (bytes: Uint8Array, options: ReadProfileOptions = {}): Promise<LabelledProfile> => {
  if (bytes.length > MAX_BYTES) throw notReadable(`it has more than ${MAX_BYTES} bytes`);
  const plain = unzipped(bytes);
  if (plain.length === 0) throw notReadable('it is empty');
  const text = asText(plain);
  if (text !== undefined && plain[plain.findIndex((byte) => !BLANK.has(byte))] === OPEN_BRACE) {
    onlyPprof(options);
    return readCpuProfile(parsed(text));
  }
  if (text !== undefined && LAST_LINE_OF_STACKS.test(text.slice(-64))) {
    onlyPprof(options);
    return readFolded(text);
  }
  return readPprof(plain, options);
};

const bounded = async (stream: Readable): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > MAX_BYTES) throw new RangeError(`it has more than ${MAX_BYTES} bytes`);
  }
  return Buffer.concat(chunks);
};

/** The profile in a stream. `ProfileOutputError` that begins with `name` when it holds none; else what the stream fails with. */
export const readProfileStream = async (
  stream: Readable,
  name: string,
  options?: ReadProfileOptions,
): Promise<LabelledProfile> => {
  const bytes = await bounded(stream);
  try {
    return await readProfile(bytes, options);
  } catch (error) {
    if (!(error instanceof ProfileOutputError)) throw error;
    throw new ProfileOutputError(error.code, `${name}: ${error.message}`, { cause: error });
  }
};
