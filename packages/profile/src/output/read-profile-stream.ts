// Reads a profile from a stream, such as a file's. It must not take more memory than a profile may have, however long the stream is.
import type { Readable } from 'node:stream';
import type { LabelledProfile } from '../labelled-profile.js';
import { ProfileOutputError } from './output-error.js';
import type { ReadProfileOptions } from './read-pprof.js';
import { MOST_BYTES, readProfile } from './read-profile.js';

const bounded = async (stream: Readable): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > MOST_BYTES) throw new RangeError(`it has more than ${MOST_BYTES} bytes`);
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
