// Functions of this room on the stacks of users' code: those between two marks of one file. A flame graph without labels must look as if
// there were none, so they are left out; in a bundle, where the user's code is the same file, nothing of the user's may be.
import { type Mark, mark } from 'spanline/internal/base';
import { addOwnCode, type OwnCode, register } from './shared-state.js';

const isBefore = (a: Omit<Mark, 'url'>, b: Omit<Mark, 'url'>): boolean =>
  a.line < b.line || (a.line === b.line && a.column < b.column);

/** What is between this call and that of its answer is the library's. Where V8 told no place, the frames stay in the graph. */
export const ownCode = (): (() => void) => {
  const begin = mark(2);
  return () => addOwnCode(begin, mark(2));
};

/** Tells whether a function that begins there is the library's own. */
export type IsOwnFrame = (url: string, line: number, column: number) => boolean;

/** For the code that is loaded by now. */
export const ownFrames = (): IsOwnFrame => {
  const byUrl = new Map<string, OwnCode[]>();
  for (const code of register.ownCode) byUrl.set(code.begin.url, [...(byUrl.get(code.begin.url) ?? []), code]);
  return (url, line, column) => {
    const place = { line, column };
    return byUrl.get(url)?.some(({ begin, end }) => isBefore(begin, place) && isBefore(place, end)) ?? false;
  };
};
