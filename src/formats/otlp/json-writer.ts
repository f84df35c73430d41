// JSON over a ByteWriter: text, hex, digits, straight into bytes. No string is built on the common path, because a JSON
// text of megabytes would have to be flattened and converted at once.
import type { ByteWriter } from '../../base/bytes/byte-writer.js';

const HEX = Buffer.from('0123456789abcdef', 'latin1');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const ZERO = 0x30;
const DELETE = 0x7f;
/** Up to this length a loop over characters beats the call into native code. */
const LOOP_CHARACTERS = 64;
/** JSON.stringify may turn one character into `\uXXXX`. */
const ESCAPED_BYTES = 6;

/** ASCII that needs no escape: the fixed parts of a document. Makes its own room, and 32 bytes for what follows. */
export const writeRaw = (writer: ByteWriter, text: string): void => {
  const { length } = text;
  writer.reserve(length + 32);
  const { bytes } = writer;
  let at = writer.length;
  for (let i = 0; i < length; i++) bytes[at++] = text.charCodeAt(i);
  writer.length = at;
};

/** The slow way, for text with characters beyond plain ASCII, and for long text. */
const writeQuotedAny = (writer: ByteWriter, text: string): void => {
  const quoted = JSON.stringify(text);
  writer.reserveText(quoted, 32);
  writer.text(quoted);
};

/** A JSON string with its quotes. Makes its own room, and 32 bytes for what follows. */
export const writeQuoted = (writer: ByteWriter, text: string): void => {
  const { length } = text;
  if (length > LOOP_CHARACTERS) {
    writeQuotedAny(writer, text);
    return;
  }
  writer.reserve(length * ESCAPED_BYTES + 34);
  const { bytes } = writer;
  let at = writer.length;
  bytes[at++] = QUOTE;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code < SPACE || code >= DELETE || code === QUOTE || code === BACKSLASH) {
      writeQuotedAny(writer, text);
      return;
    }
    bytes[at++] = code;
  }
  bytes[at++] = QUOTE;
  writer.length = at;
};

/** Eight hex digits. The room must be there. */
export const writeHex8 = (writer: ByteWriter, word: number): void => {
  const { bytes } = writer;
  let at = writer.length;
  for (let shift = 28; shift >= 0; shift -= 4) bytes[at++] = HEX[(word >>> shift) & 15];
  writer.length = at;
};

/** A whole number from 0 up to 2^53, in decimal, at least `digits` long. The room must be there. */
const writeDigits = (writer: ByteWriter, value: number, digits: number): void => {
  const { bytes, length: at } = writer;
  for (let i = at + digits - 1, rest = value; i >= at; i--) {
    // Truncated as a 32-bit integer where that is exact: some times as quick.
    const next = rest <= 0x7fff_ffff ? (rest / 10) | 0 : Math.floor(rest / 10);
    bytes[i] = ZERO + (rest - next * 10);
    rest = next;
  }
  writer.length = at + digits;
};

const countDigits = (value: number): number => {
  let digits = 1;
  for (let limit = 10; limit <= value; limit *= 10) digits++;
  return digits;
};

/** The digits of an integer for which `Number.isSafeInteger` holds. The room must be there. */
export const writeIntegerDigits = (writer: ByteWriter, value: number): void => {
  if (value < 0) writer.bytes[writer.length++] = 0x2d;
  const size = Math.abs(value);
  writeDigits(writer, size, countDigits(size));
};

/** The second that was written last, and its digits: spans of a batch begin and end within few seconds. */
let lastSec = 0;
let secDigits = Buffer.alloc(0);

/** Unix time in nanoseconds, as a JSON string. The room must be there. */
export const writeQuotedNanos = (writer: ByteWriter, sec: number, nano: number): void => {
  const { bytes } = writer;
  let at = writer.length;
  bytes[at++] = QUOTE;
  if (sec !== lastSec) {
    secDigits = Buffer.from(String(sec), 'latin1');
    lastSec = sec;
  }
  if (sec !== 0) for (let i = 0; i < secDigits.length; i++) bytes[at++] = secDigits[i];
  writer.length = at;
  if (sec === 0) writeIntegerDigits(writer, nano);
  else writeDigits(writer, nano, 9);
  writer.bytes[writer.length++] = QUOTE;
};
