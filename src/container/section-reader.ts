// Bytes of a section of a container, read with the error that tells where they were damaged.
import { ByteReader } from '../base/bytes/byte-reader.js';
import { CorruptError } from './graph-error.js';

/** Reads `bytes`; `what` names them in errors, `section` and `block` say where they are. */
export const sectionReader = (bytes: Uint8Array, what: string, section: string, block?: number): ByteReader =>
  new ByteReader(bytes, (reason) => new CorruptError(`${what} ${reason}`, section, block));
