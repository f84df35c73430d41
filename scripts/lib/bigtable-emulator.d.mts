// The types of bigtable-emulator.mjs, for the tests.

export const HOW_TO_GET: string;
export function findEmulator(): string | undefined;

export interface RunningEmulator {
  /** `address:port`, for BIGTABLE_EMULATOR_HOST. */
  readonly host: string;
  stop(): Promise<void>;
}
export function startEmulator(program: string): Promise<RunningEmulator>;
