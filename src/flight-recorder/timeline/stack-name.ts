// What a stack goes by where there is room for one function, the same wherever stacks are shown. Over frames for people, as files keep them.

/** Begins the place of a frame of this library, as `node:` begins that of Node's. */
export const OWN_SCHEME = 'spanline:';

/** A frame of Node's, of WebAssembly or of this library: it shows how something was called, not what. */
const IS_OF_THE_WAY = /(?:^| )(?:node|wasm|spanline):\S+:\d+$/;

/** The stack from the innermost function of the program outwards; all of it where there is none. */
export const namedStack = (shown: readonly string[]): readonly string[] => {
  const at = shown.findIndex((frame) => !IS_OF_THE_WAY.test(frame));
  return at < 0 ? shown : shown.slice(at);
};

/** The innermost function that is neither Node's nor WebAssembly's nor this library's; the innermost of all where there is none. '' for an empty stack. */
export const stackName = (shown: readonly string[]): string => namedStack(shown)[0] ?? '';
