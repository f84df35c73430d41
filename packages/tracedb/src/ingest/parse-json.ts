// Parses JSON text into a value and says where it is broken. It must never let an error of the engine out: its text differs
// between versions and quotes the file unescaped; nor
// recurse or backtrack, since a text may be nested, or a string long, without end.
import { badFile } from './bad-file.js';

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
    if (expected === 'comma or end') {
      const inside = open.at(-1);
      if (inside === undefined) return at === text.length ? undefined : at;
      if (char === ',') expected = inside === '{' ? 'key' : 'value';
      else if (char === (inside === '{' ? '}' : ']')) open.pop();
      else return at;
      at++;
    } else if (expected === 'colon') {
      if (char !== ':') return at;
      expected = 'value';
      at++;
    } else if (expected === 'key or }' && char === '}') {
      open.pop();
      expected = 'comma or end';
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
    } else if (char === ']' && expected === 'value or ]') {
      open.pop();
      expected = 'comma or end';
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
