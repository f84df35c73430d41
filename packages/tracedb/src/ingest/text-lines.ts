// Bytes as text: lines, or all of it. Bytes that are not UTF-8 must never be replaced in silence: a name would change.
import { badFile } from './bad-file.js';

const NEWLINE = 0x0a;

const decoder = new TextDecoder('utf-8', { fatal: true });

/** The text of some bytes without a byte order mark; `at` names the file, or file and line. */
export const utf8Text = (at: string, bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes);
  } catch {
    const wide = bytes.length > 1 && (bytes[0] << 8 === 0xff00 || bytes[0] << 8 === 0xfe00) && bytes[1] >= 0xfe;
    throw badFile(at, '', wide ? 'is UTF-16; save it as UTF-8' : 'is not UTF-8');
  }
};

/** All bytes as one buffer. Throws when there are more than `maxBytes`. */
export const wholeBytes = async (at: string, chunks: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> => {
  const parts: Buffer[] = [];
  let total = 0;
  for await (const chunk of chunks) {
    total += chunk.length;
    if (total > maxBytes) {
      throw badFile(at, '', `is a document of more than ${maxBytes} bytes; split it, or raise maxDocumentBytes`);
    }
    parts.push(chunk);
  }
  return Buffer.concat(parts, total);
};

/** The lines of a text that are not blank, with their numbers, from 1; `\r\n` ends a line as well. Throws, naming `option`, when one has more bytes. */
export async function* textLines(
  name: string,
  chunks: AsyncIterable<Buffer>,
  maxLineBytes: number,
  option = 'maxLineBytes',
): AsyncGenerator<{ readonly text: string; readonly number: number }, void, undefined> {
  let parts: Buffer[] = [];
  let length = 0;
  let number = 1;
  const take = (part: Buffer): void => {
    length += part.length;
    if (length > maxLineBytes) {
      throw badFile(`${name}:${number}`, '', `is longer than ${maxLineBytes} bytes; raise ${option}`);
    }
    parts.push(part);
  };
  const line = () => {
    const text = utf8Text(`${name}:${number}`, parts.length === 1 ? parts[0] : Buffer.concat(parts, length)).trim();
    parts = [];
    length = 0;
    return { text, number: number++ };
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      if (end === start && length === 0) {
        // An empty line costs nothing more: a file may have millions.
        number++;
      } else {
        take(chunk.subarray(start, end));
        const next = line();
        if (next.text !== '') yield next;
      }
      start = end + 1;
    }
    if (start < chunk.length) take(chunk.subarray(start));
  }
  if (length > 0) {
    const last = line();
    if (last.text !== '') yield last;
  }
}
