// Compressed text, as the objects of a catalogue have it. What inflates to more than any of them has is refused before it is in memory.
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

const MIB = 1024 * 1024;
/** Far more than a catalogue that readers could take has, and less than one string may have. */
const MAX_BYTES = 256 * MIB;

const zip = promisify(gzip);
const unzip = promisify(gunzip);

const tooLarge = (maxBytes: number): Error => new Error(`it has more than ${maxBytes / MIB} MiB`);

/** Throws for a text that no reader would take. */
export const zipText = async (text: string): Promise<Buffer> => {
  if (Buffer.byteLength(text) > MAX_BYTES) throw tooLarge(MAX_BYTES);
  return zip(text);
};

export const unzipText = async (bytes: Uint8Array, maxBytes = MAX_BYTES): Promise<string> => {
  try {
    return (await unzip(bytes, { maxOutputLength: maxBytes })).toString();
  } catch (error) {
    throw (error as { readonly code?: string }).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(maxBytes) : error;
  }
};
