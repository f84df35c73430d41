// Options of pprof. A file of its own, since the public `toPprof` must not name what the encoder's optional package declares.
export interface PprofOptions {
  /** Units of numeric labels by key, such as `{ rows: 'rows' }`. Keys that end in a unit (`sizeBytes`, `wait_ms`) need none. */
  readonly units?: Readonly<Record<string, string>>;
  /** Name of the program in reports. Default `node`. */
  readonly program?: string;
}
