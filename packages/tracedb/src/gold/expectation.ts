// What people said of a digest of a test, and how that is written down. Text that this package did not write must be an error, never
// a digest that looks untriaged.
import { valueOfJson } from '../table/cells.js';
import { storeCorrupt } from '../tracedb-error.js';

/** What is thought of a digest: nothing yet, right, or wrong. */
export type TriageStatus = 'untriaged' | 'positive' | 'negative';

export const TRIAGE_STATUSES: readonly TriageStatus[] = ['untriaged', 'positive', 'negative'];

/** The status of a digest of a test, and who set it; of an untriaged one nobody may have. */
export interface Expectation {
  readonly status: TriageStatus;
  readonly by?: string;
  /** Unix milliseconds. */
  readonly atMs?: number;
  readonly note?: string;
}

/** One change of a status. */
export interface ExpectationChange {
  readonly from: TriageStatus;
  readonly to: TriageStatus;
  readonly by: string;
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly note?: string;
}

/** The status of a digest that nobody said anything of. */
export const UNTRIAGED: Expectation = Object.freeze({ status: 'untriaged' });

/** Changes of one digest that are kept; older ones are forgotten. */
export const MAX_HISTORY = 100;

/** An expectation as a cell has it: its revision makes two cells of equal content differ. */
export interface StoredExpectation extends Expectation {
  readonly revision: number;
}

const isStatus = (value: unknown): value is TriageStatus => TRIAGE_STATUSES.includes(value as TriageStatus);

const isExpectation = (value: unknown): value is StoredExpectation =>
  isStatus((value as StoredExpectation | null)?.status) && Number.isSafeInteger((value as StoredExpectation).revision);

const isHistory = (value: unknown): value is ExpectationChange[] =>
  Array.isArray(value) && value.every((change) => isStatus(change?.from) && isStatus(change?.to));

const parse = <T>(value: Uint8Array, is: (value: unknown) => value is T, where: string): T => {
  const parsed = valueOfJson(value);
  if (is(parsed)) return parsed;
  throw storeCorrupt(`${where} holds no expectation; restore it from a backup`);
};

export const parseExpectation = (value: Uint8Array, where: string): StoredExpectation =>
  parse(value, isExpectation, where);

/** Oldest change first. */
export const parseHistory = (value: Uint8Array, where: string): ExpectationChange[] => parse(value, isHistory, where);

/** Without what only the cell needs. */
export const publicExpectation = ({ revision: _, ...expectation }: StoredExpectation): Expectation => expectation;
