// The program that does nothing: what Node itself takes to start and to end. Must stay an ES module, as import.mjs is one.
export {};
