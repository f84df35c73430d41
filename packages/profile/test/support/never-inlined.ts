// Functions that V8 inlines nowhere have too much bytecode for it: their samples have their names.

/** For the body of a function, in a branch that is never taken: `variable` is one of its own that is never undefined. */
export const tooLongFor = (variable: string): string =>
  `if (${variable} === undefined) {${`${variable} = [${variable}];`.repeat(400)}}`;
