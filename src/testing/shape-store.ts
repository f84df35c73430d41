// Where `expectTraceShape` keeps shapes that people triage: what it asks of a Gold store, which is the trace database's. Types only.

/** A shape at a commit, to be kept under the name of a test. */
export interface KeptShape {
  readonly name: string;
  /** Of the whole tree. */
  readonly digest: string;
  /** The tree as text. */
  readonly drawn: string;
  /** Number of the commit, 0 for the first of the store. */
  readonly commit: number;
  readonly commitInfo?: { readonly hash: string; readonly timestampMs?: number };
}

/** A store of shapes, such as `GoldStore`. */
export interface ShapeStore {
  /** Puts the shape. Undefined when it was accepted, or is with `accepts`; else the message for the developer. */
  checkShape(shape: KeptShape, accepts: boolean): Promise<string | undefined>;
}

/** Where shapes go. */
export interface GoldShapes {
  readonly store: ShapeStore;
  /** Number of the commit that is tested, 0 for the first of the store. */
  readonly commit: number;
  /** Its hash, and when it was made: Unix milliseconds. */
  readonly commitInfo?: KeptShape['commitInfo'];
}
