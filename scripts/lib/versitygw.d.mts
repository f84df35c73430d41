// The types of versitygw.mjs, for the tests.

export const HOW_TO_GET: string;
export const BUILT: string;
export function findVersitygw(): string | undefined;

export interface RunningVersitygw {
  /** Such as `http://127.0.0.1:7070`. */
  readonly endpoint: string;
  /** `address:port`. */
  readonly host: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  /** An account that may do nothing with the buckets. */
  readonly stranger: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** The folder with a folder for each bucket. */
  readonly data: string;
  stop(): Promise<void>;
}
export function startVersitygw(program: string, buckets?: readonly string[]): Promise<RunningVersitygw>;
