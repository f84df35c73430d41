// The text of a file: lines, or all of it, and the value of JSON. Bytes that are not UTF-8 must never be replaced in silence: a name would change.
// What is broken is told by its place; an error of the engine must never get out: its text differs between versions and quotes the file unescaped.
// Nothing here may recurse or backtrack: a text may be nested, or a string long, without end.
import { badFile } from './shape.js';

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

/** What may come next. */
type Expected = 'value' | 'value or ]' | 'key or }' | 'key' | 'colon' | 'comma or end';

const BLANK = /[ \t\n\r]*/y;
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;
// One step of a string. The run of plain characters is a class, so that the expression takes it without a stack.
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings
const IN_STRING = /[^"\\\x00-\x1f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

const endOf = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
};

/** Where the string that starts at `at` ends, negative for the place it goes wrong: -1 - offset. */
const endOfString = (text: string, at: number): number => {
  for (let next = at + 1; ; ) {
    if (text[next] === '"') return next + 1;
    const end = endOf(IN_STRING, text, next);
    if (end === next) return -1 - next;
    next = end;
  }
};

/**
 * The offset of the first character that cannot be part of JSON, which is the length of a text that only ends too early; undefined
 * for JSON.
 */
export const jsonErrorOffset = (text: string): number | undefined => {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'value';
  for (let at = endOf(BLANK, text, 0); ; at = endOf(BLANK, text, at)) {
    const char = text[at];
    const inside = open.at(-1);
    if (expected === 'comma or end' && inside === undefined) return at === text.length ? undefined : at;
    const closing = inside === '{' ? '}' : ']';
    if (char === closing && (expected === 'comma or end' || expected.endsWith(closing))) {
      open.pop();
      expected = 'comma or end';
      at++;
    } else if (expected === 'comma or end') {
      if (char !== ',') return at;
      expected = inside === '{' ? 'key' : 'value';
      at++;
    } else if (expected === 'colon') {
      if (char !== ':') return at;
      expected = 'value';
      at++;
    } else if (expected === 'key' || expected === 'key or }') {
      if (char !== '"') return at;
      at = endOfString(text, at);
      if (at < 0) return -1 - at;
      expected = 'colon';
    } else if (char === '{' || char === '[') {
      open.push(char);
      expected = char === '{' ? 'key or }' : 'value or ]';
      at++;
    } else {
      const end = char === '"' ? endOfString(text, at) : endOf(SCALAR, text, at);
      if (end < 0) return -1 - end;
      if (end === at) return at;
      at = end;
      expected = 'comma or end';
    }
  }
};

/** Where a text is broken, as `line 2, column 6`, both from 1. */
const placeOfError = (text: string): string => {
  const offset = jsonErrorOffset(text);
  if (offset === undefined) return 'it is too large for this engine';
  if (offset >= text.trimEnd().length) return 'it ends too early';
  let line = 1;
  let start = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) {
    line++;
    start = at + 1;
  }
  return `line ${line}, column ${offset - start + 1}`;
};

/** The value of a JSON text; `at` names the file in the error. */
export const parseJson = (at: string, text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw badFile(at, '', `is not JSON: ${placeOfError(text)}`);
  }
};
