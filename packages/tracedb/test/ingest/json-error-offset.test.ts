// The place of an error in JSON: found for exactly the texts the engine refuses, and such that all before it could still become
// JSON.

import { describe, expect, it } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { jsonErrorOffset } from '../../src/ingest/text.js';

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('the place of an error', () => {
  it.each<[string, number]>([
    ['', 0],
    ['  ', 2],
    ['{"a": 1,}', 8],
    ['{"a" 1}', 5],
    ['{a: 1}', 1],
    ['[1, 2', 5],
    ['[1 2]', 3],
    ['[1,]', 3],
    ['{}}', 2],
    ['[}', 1],
    ['1 x', 2],
    ['01', 1],
    ['-', 0],
    ['nul', 0],
    ['NaN', 0],
    ['"a\nb"', 2],
    ['"\\x"', 1],
    ['"\\u12g4"', 1],
    ['"open', 5],
  ])('in %j is %i', (text, offset) => {
    expect(jsonErrorOffset(text)).toBe(offset);
  });

  it('exists where the engine refuses a text, and nowhere else', () => {
    const tokens = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"',
      '1',
      '-0.5e+3',
      'true',
      'null',
      ' ',
      '\n',
      'x',
      '\\',
    );
    const texts = fc.oneof(
      fc.array(tokens, { maxLength: 12 }).map((parts) => parts.join('')),
      fc.tuple(fc.json(), fc.nat(), fc.string({ maxLength: 2 })).map(([text, place, insert]) => {
        const at = place % (text.length + 1);
        return text.slice(0, at) + insert + text.slice(at + (place % 3));
      }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(jsonErrorOffset(text) === undefined).toBe(isJson(text));
      }),
      { numRuns: samples(1000, 5000) },
    );
  });

  it('is the end of every text that was cut short', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, place) => {
        const cut = text.slice(0, place % text.length);
        const offset = jsonErrorOffset(cut);
        // A token that is not whole is refused where it starts to be none; a number may be whole wherever it is cut.
        if (offset !== undefined) expect(cut.slice(offset)).toMatch(/^(?:|-|\\u?[0-9a-f]*|[tfn][a-z]*|\.|e[+-]?)$/i);
      }),
      { numRuns: samples(500, 2000) },
    );
  });

  it('is found however deep or long the text is', () => {
    expect(jsonErrorOffset('['.repeat(1e6))).toBe(1e6);
    expect(jsonErrorOffset(`"${'a'.repeat(1e7)}`)).toBe(1e7 + 1);
    expect(jsonErrorOffset(`"${'\\n'.repeat(1e6)}`)).toBe(2e6 + 1);
    expect(jsonErrorOffset(`${'1'.repeat(1e6)}x`)).toBe(1e6);
  });
});
