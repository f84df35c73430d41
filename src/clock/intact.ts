// Is a binary whole? Loading the first half of one (a full disk, an installation cut off) does not fail, it ends the process
// with SIGBUS. Knows ELF of 64 bits alone; any other file is the loader's to judge.
import { readFileSync } from 'node:fs';

const HEADER_BYTES = 64;
/** 0x7f ELF, 64 bits, little end first. */
const MAGIC = 0x7f454c46;
const CLASS_AND_ENDS = 0x0201;

/** Why this file must not be loaded. The section table is the last thing in an ELF file, so its end is the file's. */
export const faultOf = (file: string): string | undefined => {
  const bytes = readFileSync(file);
  const size = bytes.length;
  if (size < HEADER_BYTES) return 'too short';
  const header = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  if (header.getUint32(0) !== MAGIC || header.getUint16(4) !== CLASS_AND_ENDS) return undefined;
  // Offset of the section table (8 bytes), size of an entry, number of entries.
  const offset = header.getUint32(40, true) + header.getUint32(44, true) * 2 ** 32;
  const end = offset + header.getUint16(58, true) * header.getUint16(60, true);
  return end > size ? `cut off after ${size} of ${end} bytes` : undefined;
};
