// Finished profiles on their way to a sink, one after the other, so that a sink need not fear itself. A sink that is slow or fails costs
// profiles, never memory and never the program.
import { within } from 'spanline/internal/base';
import type { LabelledProfile } from './labelled-profile.js';
import { Counter, count } from './profile-counters.js';

/** Takes a finished profile. What it throws, or rejects with, is counted in `stats()`. */
export type ProfileSink = (profile: LabelledProfile) => void | Promise<void>;

/** How long an end waits for the sink. */
export const DEFAULT_STOP_MS = 10_000;

/** Profiles that the sink may have at a time: one it works on and one that waits. */
const MAX_WAITING = 2;

export class ProfileDelivery {
  /** Taken by the sink. */
  profiles = 0;
  /** Given and not taken yet. */
  waiting = 0;
  dropped = 0;
  sinkErrors = 0;
  lastSinkError: unknown;
  readonly #sink: ProfileSink;
  #last: Promise<void> = Promise.resolve();

  constructor(sink: ProfileSink) {
    this.#sink = sink;
  }

  give(profile: LabelledProfile): void {
    if (this.waiting >= MAX_WAITING) {
      this.dropped++;
      count(Counter.profilesDropped);
      return;
    }
    this.waiting++;
    this.#last = this.#last.then(async () => {
      try {
        await this.#sink(profile);
        this.profiles++;
      } catch (error) {
        this.sinkErrors++;
        this.lastSinkError = error;
        count(Counter.sinkErrors);
      } finally {
        this.waiting--;
      }
    });
  }

  /** Resolves when the sink is done with all it was given so far, or after `mostMs`: a sink may hang, or wait for whoever waits for it. */
  settled(mostMs = DEFAULT_STOP_MS): Promise<void> {
    return within(mostMs, this.#last);
  }
}
