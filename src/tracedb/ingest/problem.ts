// What is wrong in a document, apart from who found it: public types must not name an optional package.

/** What is wrong at one place of a JSON document. */
export interface Problem {
  /** JSON pointer (RFC 6901); empty for the whole document. */
  readonly path: string;
  readonly reason: string;
}
