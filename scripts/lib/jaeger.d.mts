// The types of jaeger.mjs, for the tests.

export const HOW_TO_GET: string;
export const BUILT: string;
export function findJaeger(): string | undefined;

export interface RunningJaeger {
  /** Of its query API and its UI, such as `http://127.0.0.1:16686`. */
  readonly queryUrl: string;
  /** Where it takes OTLP over HTTP; without a path. */
  readonly otlpUrl: string;
  /** Where it takes Thrift over HTTP. */
  readonly thriftUrl: string;
  /** UDP ports of 127.0.0.1. */
  readonly compactPort: number;
  readonly binaryPort: number;
  stop(): Promise<void>;
}
export function startJaeger(program: string, options?: { maxTraces?: number }): Promise<RunningJaeger>;
