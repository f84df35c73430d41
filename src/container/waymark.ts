// Waymarks: entries of the table of contents, repeated behind the sections they describe, so that a file whose end is lost can be read
// as far as it goes. Readers never look at them; salvage searches for them, and believes those whose checksum is right.
import { crc32 } from 'node:zlib';
import { decodeEntry, encodeToc, HEADER_BYTES, type SectionEntry, TOC_ENTRY_BYTES } from './layout.js';

const MAGIC = Buffer.from('SPLMARK1', 'latin1');

/** Magic, an entry, and the CRC-32 of the entry. */
export const WAYMARK_BYTES = MAGIC.length + TOC_ENTRY_BYTES + 4;

/** The waymarks of `entries`, one behind the other. */
export const encodeWaymarks = (entries: readonly SectionEntry[]): Buffer =>
  Buffer.concat(
    entries.map((entry) => {
      const body = encodeToc([entry]);
      const crc = Buffer.alloc(4);
      crc.writeUInt32LE(crc32(body));
      return Buffer.concat([MAGIC, body, crc]);
    }),
  );

/** The sections whose waymarks stand in `bytes`, which begin at `offset` of the file. */
export const findWaymarks = (bytes: Buffer, offset: number): SectionEntry[] => {
  const found: SectionEntry[] = [];
  for (
    let at = bytes.indexOf(MAGIC);
    at >= 0 && at + WAYMARK_BYTES <= bytes.length;
    at = bytes.indexOf(MAGIC, at + 1)
  ) {
    const body = bytes.subarray(at + MAGIC.length, at + WAYMARK_BYTES - 4);
    if (crc32(body) !== bytes.readUInt32LE(at + WAYMARK_BYTES - 4)) continue;
    const entry = decodeEntry(body, 0);
    // Waymarks stand behind their sections.
    if (entry.offset >= HEADER_BYTES && entry.offset + entry.storedLength <= offset + at) found.push(entry);
  }
  return found;
};
