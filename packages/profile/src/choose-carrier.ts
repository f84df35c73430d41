// Which carrier this thread uses: the register where its reader loads and passes the self-test, else trampolines of the kind that passes. Tested once
// a thread and remembered. And `stats()`: how labels travel here, and what was refused, lost or could not be determined in this thread.
import type { Carrier } from './labelled-profile.js';
import { type CounterName, readCounters } from './profile-counters.js';
import { ProfileError } from './profile-error.js';
import { hasRegisterReader } from './recording.js';
import { ENOUGH, selfTest } from './self-test.js';
import { loadSigprof } from './sigprof.js';
import { type TrampolineKind, TrampolinePool } from './trampoline-pool.js';

interface ChosenCarrier {
  readonly carrier: Carrier;
  readonly pool: TrampolinePool | undefined;
}

const KINDS: readonly TrampolineKind[] = ['second-context', 'padded'];

/** Share of the self-test's samples with the right label, by `register`, `second-context` and `padded`. */
const shares = new Map<'register' | TrampolineKind, number>();
let pool: TrampolinePool | undefined;

/** What the self-tests of this thread found so far. */
const selfTestShares = (): Readonly<Record<string, number>> => Object.fromEntries(shares);

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

const whyNot = (): string => [...shares].map(([name, share]) => `${name} labelled ${percent(share)}`).join(', ');

const isEnough = (name: 'register' | TrampolineKind): boolean => (shares.get(name) ?? 0) >= ENOUGH;

const isRegisterGood = async (): Promise<boolean> => {
  if (!hasRegisterReader()) return false;
  // One that failed is tested again: the machine may have been too busy to say.
  if (!isEnough('register')) shares.set('register', await selfTest({ carrier: 'register', pool: undefined }));
  return isEnough('register');
};

const goodPool = async (): Promise<TrampolinePool | undefined> => {
  if (pool !== undefined) return pool;
  for (const kind of KINDS) {
    const candidate = new TrampolinePool(kind);
    shares.set(kind, await selfTest({ carrier: 'trampoline', pool: candidate }));
    if (!isEnough(kind)) continue;
    pool = candidate;
    return pool;
  }
  return undefined;
};

const noCarrier = (wanted: string): ProfileError => {
  const reasons = [...loadSigprof().reasons, whyNot()].filter((reason) => reason !== '').join('; ');
  return new ProfileError(
    'ERR_SPANLINE_PROFILE_CARRIER',
    `carrier ${wanted} does not work in this thread (${reasons}); ask for carrier 'auto'`,
  );
};

/** The carrier asked for, or the best there is. */
export const chooseCarrier = async (wanted: Carrier | 'auto'): Promise<ChosenCarrier> => {
  const hasRegister = wanted !== 'trampoline' && (await isRegisterGood());
  if (hasRegister && wanted !== 'both') return { carrier: 'register', pool: undefined };
  if (wanted === 'register') throw noCarrier(wanted);
  const found = await goodPool();
  if (found === undefined || (wanted === 'both' && !hasRegister)) throw noCarrier(wanted);
  return { carrier: hasRegister ? 'both' : 'trampoline', pool: found };
};

export interface ProfileStats {
  /** Share of samples with the right label that each carrier tried so far got in its self-test: `register`, `second-context`, `padded`. */
  readonly selfTest: Readonly<Record<string, number>>;
  /** Why the addon of the register is not used; empty when it can be. */
  readonly addonProblems: readonly string[];
  readonly counters: Readonly<Record<CounterName, number>>;
}

/**
 * Counters of this thread's labels and profiles.
 *
 * Look here when samples are without labels: every bound that was met is counted.
 *
 * @example
 * ```ts
 * import { stats } from '@spanline/profile';
 * console.assert(stats().counters.samplesLost === 0);
 * ```
 */
export const stats = (): ProfileStats => ({
  selfTest: selfTestShares(),
  addonProblems: loadSigprof().reasons,
  counters: readCounters(),
});
